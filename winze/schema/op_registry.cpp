// SPDX-License-Identifier: Apache-2.0
#include "winze/schema/op_registry.h"

#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <utility>

#include "winze/schema/op_suggestions.h"
#include "winze/schema/op_table.h"
#include "winze/schema/schema_parser.h"
#include "winze/schema/table_line.h"
#include "winze/schema/table_tags.h"
#include "winze/support/bytes.h"
#include "winze/support/diagnostic.h"
#include "winze/support/edit_distance.h"
#include "winze/support/string_map.h"

namespace winze {
namespace {

constexpr std::string_view target_prefix = "torch.ops.";

/// An operator that is not (or no longer) described by the compiled-in table.
struct Entry {
  std::string qualified_name;
  std::string line;       ///< `schema [tags]`
  bool is_listed = true;  ///< find finds it
};

/// One line of a table text that has been checked.
struct CheckedLine {
  std::string line;
  std::string qualified_name;
  int number = 1;  ///< which line of the text it is
};

OpKind kind_of(Tags tags) {
  if (tags.has(Tag::higher_order)) return OpKind::higher_order;
  if (tags.has(Tag::symbolic)) return OpKind::symbolic;
  if (tags.has(Tag::function)) return OpKind::function;
  return OpKind::overload;
}

/// `aten::add.Tensor` as `aten.add.Tensor`; a target without its `torch.ops.`.
std::string normalize_name(std::string_view name) {
  if (name.starts_with(target_prefix)) name.remove_prefix(target_prefix.size());
  std::string out(name);
  std::size_t colons = out.find("::");
  if (colons != std::string::npos) out.replace(colons, 2, ".");
  return out;
}

/// The value of the header line `# torch VERSION`, or empty.
std::string_view find_torch_version(std::string_view text) {
  constexpr std::string_view key = "# torch ";
  std::size_t start = text.starts_with(key) ? 0 : text.find("\n# torch ");
  if (start == std::string_view::npos) return {};
  start = text.find(key, start) + key.size();
  std::string_view version = text.substr(start, text.find('\n', start) - start);
  while (version.ends_with('\r') || version.ends_with(' ')) version.remove_suffix(1);
  return version;
}

[[noreturn]] void fail_in_table(Diagnostic diagnostic, std::string_view file, int line,
                                std::string_view text) {
  diagnostic.where.file = std::string(file);
  diagnostic.where.line = line;
  diagnostic.where.column = std::max(diagnostic.where.column, 1);
  diagnostic.where.source_text = std::string(text);
  throw Error(std::move(diagnostic));
}

/// Copies the texts to where they live as long as the schema, and makes the views point there.
void keep_texts(Schema& schema, std::vector<std::string_view>& texts) {
  std::size_t size = 0;
  for (std::string_view text : texts) size += text.size();
  std::shared_ptr<char[]> storage(new char[size]);
  char* out = storage.get();
  for (std::string_view& text : texts) {
    std::copy(text.begin(), text.end(), out);
    text = std::string_view(out, text.size());
    out += text.size();
  }
  schema.text = std::move(storage);
}

/// A table of another release may have tags that are not known; a list of custom operators not.
enum class UnknownTags : bool { allowed, refused };

/// Throws Error where a tag would be lost: the operator would count as purer than it is.
void refuse_lost_tags(const TableLine& parts, std::string_view line, std::string_view file,
                      int number) {
  if (std::optional<Diagnostic> unknown = unknown_tag(parts.tags)) {
    unknown->where.column += static_cast<int>(parts.tags.data() - line.data());
    fail_in_table(std::move(*unknown), file, number, line);
  }
  Diagnostic diagnostic;
  diagnostic.hint = hint_for_tags(parts.schema);
  if (diagnostic.hint.empty()) return;
  diagnostic.message = "the result has the name of a tag";
  diagnostic.where.column = static_cast<int>(parts.schema.rfind(' ')) + 2;
  fail_in_table(std::move(diagnostic), file, number, line);
}

CheckedLine check_line(std::string_view line, std::string_view file, int number,
                       UnknownTags unknown_tags = UnknownTags::allowed) {
  TableLine parts = split_table_line(line);
  try {
    (void)parse_schema_in_place(parts.schema);
  } catch (const Error& error) {
    Diagnostic diagnostic = error.diagnostic();
    if (diagnostic.hint.empty()) diagnostic.hint = hint_for_tags(parts.schema);
    if (diagnostic.hint.empty())
      diagnostic.hint = "a line is such as: mylib::scale(Tensor x, float by) -> Tensor [pointwise]";
    fail_in_table(std::move(diagnostic), file, number, line);
  }
  if (unknown_tags == UnknownTags::refused) refuse_lost_tags(parts, line, file, number);
  return {std::string(line), make_qualified_name(parts), number};
}

/// Every line that is neither empty nor a comment. \throws Error for the first that does not parse
/// or is there twice.
std::vector<CheckedLine> check_table(std::string_view text, std::string_view file,
                                     UnknownTags unknown_tags) {
  std::vector<CheckedLine> lines;
  StringMap<int> seen;
  int number = 0;
  while (!text.empty()) {
    std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || line.starts_with('#')) continue;
    lines.push_back(check_line(line, file, number, unknown_tags));
    auto [first, is_new] = seen.emplace(lines.back().qualified_name, number);
    if (!is_new) {
      Diagnostic diagnostic;
      diagnostic.message = fmt::format("operator `{}` stands twice in the table: first in line {}",
                                       lines.back().qualified_name, first->second);
      fail_in_table(std::move(diagnostic), file, number, line);
    }
  }
  return lines;
}

/// Operators by id, in pages that are made when first written: a context that uses few operators
/// touches little memory.
class OpIndex {
 public:
  explicit OpIndex(std::uint32_t size) { resize(size); }
  [[nodiscard]] std::uint32_t size() const { return size_; }
  [[nodiscard]] const Op* get(std::uint32_t index) const {
    const std::unique_ptr<Page>& page = pages_[index / page_size];
    return page ? (*page)[index % page_size] : nullptr;
  }
  void set(std::uint32_t index, const Op* op) {
    std::unique_ptr<Page>& page = pages_[index / page_size];
    if (!page) page = std::make_unique<Page>();
    (*page)[index % page_size] = op;
  }
  /// One more, without an operator yet.
  void append() { resize(size_ + 1); }

 private:
  static constexpr std::uint32_t page_size = 64;
  using Page = std::array<const Op*, page_size>;

  void resize(std::uint32_t size) {
    size_ = size;
    pages_.resize((size + page_size - 1) / page_size);
  }

  std::uint32_t size_ = 0;
  std::vector<std::unique_ptr<Page>> pages_;
};

}  // namespace

struct OpRegistry::Impl {
  const OpTable& table = built_in_op_table;
  std::string torch_version;

  /// By id; null until asked for. Grows with what is added.
  mutable OpIndex ops;
  mutable std::deque<Op> storage;
  mutable bool is_used = false;

  /// Lines that take the place of the compiled-in table, by id; empty while that one is in use.
  std::vector<std::optional<Entry>> replaced;
  /// Operators from `table.count` on.
  std::deque<Entry> added;
  StringMap<OpId> added_names;
  /// Interned variants, by a key of all that makes them.
  StringMap<OpId> variants;

  Impl() : torch_version(table.torch_version), ops(table.count) {}

  [[nodiscard]] const Entry* entry(OpId id) const {
    if (id.index >= table.count) return &added[id.index - table.count];
    if (replaced.empty()) return nullptr;
    const std::optional<Entry>& own = replaced[id.index];
    return own ? &*own : nullptr;
  }
  [[nodiscard]] std::string_view line(OpId id) const {
    const Entry* own = entry(id);
    return own != nullptr ? std::string_view(own->line) : table.line(id.index);
  }
  [[nodiscard]] std::string_view name(OpId id) const {
    const Entry* own = entry(id);
    return own != nullptr ? std::string_view(own->qualified_name) : table.name(id.index);
  }
  /// Is a compiled-in operator part of the table in use?
  [[nodiscard]] bool is_listed(std::uint32_t index) const {
    return replaced.empty() || replaced[index].has_value();
  }

  [[nodiscard]] OpId find_exact(std::string_view qualified) const {
    std::uint32_t index = table.find(qualified);
    if (index < table.count && is_listed(index)) return OpId{index};
    if (added_names.empty()) return {};
    auto found = added_names.find(qualified);
    return found == added_names.end() ? OpId{} : found->second;
  }

  OpId append(Entry entry_to_add) {
    OpId id{table.count + static_cast<std::uint32_t>(added.size())};
    if (entry_to_add.is_listed) added_names.emplace(entry_to_add.qualified_name, id);
    added.push_back(std::move(entry_to_add));
    ops.append();
    return id;
  }

  const Op& parse(OpId id) const {
    is_used = true;
    TableLine parts = split_table_line(line(id));
    Op& op = storage.emplace_back();
    op.id = id;
    op.base = id;
    op.tag_text = parts.tags;
    op.tags = parse_tags(parts.tags);
    op.kind = kind_of(op.tags);
    op.schema = parse_schema_in_place(parts.schema);
    op.qualified_name = name(id);
    op.effects = derive_effects(id, op.kind, op.tags, op.schema);
    ops.set(id.index, &op);
    return op;
  }

  OpId add_line(CheckedLine checked) {
    OpId existing = find_exact(checked.qualified_name);
    if (!existing.is_valid())
      return append({std::move(checked.qualified_name), std::move(checked.line)});
    TableLine mine = split_table_line(checked.line);
    TableLine theirs = split_table_line(line(existing));
    Diagnostic diagnostic;
    if (print_schema(parse_schema_in_place(mine.schema)) == theirs.schema) {
      if (mine.tags.empty() || parse_tags(mine.tags) == parse_tags(theirs.tags)) return existing;
      diagnostic.message =
          fmt::format("operator `{}` has other tags already", checked.qualified_name);
      diagnostic.notes.push_back(fmt::format("they are {}", theirs.tags));
      diagnostic.notes.push_back(fmt::format("not      {}", mine.tags));
      diagnostic.hint = "leave the line out, or replace the table of operators";
      throw Error(std::move(diagnostic));
    }
    diagnostic.message =
        fmt::format("operator `{}` has another schema already", checked.qualified_name);
    diagnostic.notes.push_back(fmt::format("it is   {}", theirs.schema));
    diagnostic.notes.push_back(fmt::format("not     {}", mine.schema));
    diagnostic.hint = "give the operator another name, or replace the table of operators";
    throw Error(std::move(diagnostic));
  }

  OpId add_variant(Op op, std::string name_text, const std::string& key) {
    OpId id = append({std::move(name_text), {}, false});
    op.id = id;
    if (!op.base.is_valid()) op.base = id;
    op.qualified_name = added.back().qualified_name;
    storage.push_back(std::move(op));
    ops.set(id.index, &storage.back());
    variants.emplace(key, id);
    return id;
  }
};

OpRegistry::OpRegistry() : impl_(std::make_unique<Impl>()) {}
OpRegistry::~OpRegistry() = default;

OpId OpRegistry::find(std::string_view name) const {
  if (name.starts_with(target_prefix)) name.remove_prefix(target_prefix.size());
  OpId id = impl_->find_exact(name);  // most names come as the tables spell them
  if (id.is_valid()) return id;
  std::string qualified = normalize_name(name);
  id = impl_->find_exact(qualified);
  return id.is_valid() ? id : impl_->find_exact(qualified + ".default");
}

OpId OpRegistry::find_or_throw(std::string_view name) const {
  OpId id = find(name);
  if (id.is_valid()) return id;
  Diagnostic diagnostic;
  diagnostic.message = fmt::format("unknown operator `{}`", name);
  diagnostic.hint = suggest_ops(*this, name);
  throw Error(std::move(diagnostic));
}

const Op& OpRegistry::get(OpId id) const {
  WINZE_CHECK(id.index < impl_->ops.size(), "operator id {} is not of this context", id.index);
  const Op* op = impl_->ops.get(id.index);
  return op != nullptr ? *op : impl_->parse(id);
}

std::string_view OpRegistry::qualified_name(OpId id) const {
  WINZE_CHECK(id.index < impl_->ops.size(), "operator id {} is not of this context", id.index);
  return impl_->name(id);
}

std::vector<OpId> OpRegistry::overloads(std::string_view packet) const {
  std::string prefix = normalize_name(packet);
  std::vector<OpId> ids;
  OpId itself = impl_->find_exact(prefix);
  if (itself.is_valid()) ids.push_back(itself);
  prefix += '.';
  // The lines of the table are in order of `ns::name.overload`.
  std::size_t dot = prefix.rfind('.', prefix.size() - 2);
  if (dot == std::string::npos) return ids;
  std::string key = prefix.substr(0, dot) + "::" + prefix.substr(dot + 1, prefix.size() - dot - 2);
  const OpTable& table = impl_->table;
  std::uint32_t low = 0;
  std::uint32_t high = table.count;
  while (low < high) {
    std::uint32_t middle = low + (high - low) / 2;
    if (split_table_line(table.line(middle)).name() < key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  for (; low < table.count && table.name(low).starts_with(prefix); ++low) {
    if (impl_->is_listed(low)) ids.push_back(OpId{low});
  }
  for (const auto& [name, id] : impl_->added_names) {
    if (name.starts_with(prefix) && name.find('.', prefix.size()) == std::string::npos)
      ids.push_back(id);
  }
  std::sort(ids.begin(), ids.end(),
            [this](OpId a, OpId b) { return impl_->name(a) < impl_->name(b); });
  return ids;
}

std::uint32_t OpRegistry::size() const {
  return impl_->ops.size();
}

void OpRegistry::for_each(const std::function<void(OpId, std::string_view)>& visit) const {
  std::vector<OpId> ids;
  ids.reserve(size());
  for (std::uint32_t i = 0; i < impl_->table.count; ++i) {
    if (impl_->is_listed(i)) ids.push_back(OpId{i});
  }
  for (const auto& [name, id] : impl_->added_names) ids.push_back(id);
  std::sort(ids.begin(), ids.end(),
            [this](OpId a, OpId b) { return impl_->name(a) < impl_->name(b); });
  for (OpId id : ids) visit(id, impl_->name(id));
}

OpId OpRegistry::add(std::string_view schema_text, std::string_view tags) {
  std::string line(schema_text);
  if (!tags.empty()) line += fmt::format(" [{}]", tags);
  return impl_->add_line(check_line(line, {}, 1));
}

std::size_t OpRegistry::load_text(std::string_view text, std::string_view file) {
  std::vector<CheckedLine> lines = check_table(text, file, UnknownTags::refused);
  std::size_t count = lines.size();
  for (const CheckedLine& line : lines) {  // all or nothing: conflicts first
    if (!impl_->find_exact(line.qualified_name).is_valid()) continue;
    try {
      impl_->add_line(line);
    } catch (const Error& error) {
      fail_in_table(error.diagnostic(), file, line.number, line.line);
    }
  }
  for (CheckedLine& line : lines) impl_->add_line(std::move(line));
  return count;
}

std::size_t OpRegistry::load(const std::filesystem::path& path) {
  return load_text(map_file(path.string()).string_view(), path.string());
}

void OpRegistry::replace_table_text(std::string_view text, std::string_view file) {
  if (impl_->is_used || !impl_->added.empty() || !impl_->replaced.empty()) {
    throw Error(
        fmt::format("operator table `{}` comes too late: operators are in use already", file),
        "replace the table before anything else is done with the context");
  }
  std::string_view version = find_torch_version(text);
  if (version.empty()) {
    throw Error(fmt::format("operator table `{}` does not say which PyTorch it is of", file),
                "its header needs a line `# torch VERSION`; schemas/dump_schemas.py writes one");
  }
  std::vector<CheckedLine> lines = check_table(text, file, UnknownTags::allowed);
  impl_->torch_version = version;
  impl_->replaced.resize(impl_->table.count);
  for (CheckedLine& line : lines) {
    std::uint32_t index = impl_->table.find(line.qualified_name);
    Entry entry{std::move(line.qualified_name), std::move(line.line)};
    if (index < impl_->table.count) {
      impl_->replaced[index] = std::move(entry);
    } else {
      impl_->append(std::move(entry));
    }
  }
}

void OpRegistry::replace_table(const std::filesystem::path& path) {
  replace_table_text(map_file(path.string()).string_view(), path.string());
}

std::string_view OpRegistry::torch_version() const {
  return impl_->torch_version;
}

/// Adds to the key of a variant a text that may hold anything, so that no two lists make one key.
static void append_counted(std::string& key, std::string_view text) {
  key += fmt::format(" {}:", text.size());
  key += text;
}

OpId OpRegistry::opaque(std::string_view target, std::span<const OpaqueArgument> arguments) {
  std::string key = "opaque";
  append_counted(key, target);
  for (const OpaqueArgument& argument : arguments) {
    key += argument.is_keyword ? 'k' : 'p';
    append_counted(key, argument.name);
  }
  if (auto found = impl_->variants.find(key); found != impl_->variants.end()) return found->second;

  Op op;
  if (!arguments.empty()) op.base = opaque(target, {});
  op.kind = OpKind::opaque;
  op.effects = unknown_effects();
  std::vector<std::string_view> names{target};
  for (const OpaqueArgument& argument : arguments) names.push_back(argument.name);
  keep_texts(op.schema, names);
  op.opaque_target = names[0];
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    SchemaArgument& argument = op.schema.arguments.emplace_back();
    argument.name = names[i + 1];
    argument.kwarg_only = arguments[i].is_keyword;
  }
  op.schema.is_variadic_arguments = arguments.empty();
  op.schema.is_variadic_returns = true;

  std::string_view name = op.opaque_target;
  if (name.starts_with(target_prefix)) name.remove_prefix(target_prefix.size());
  std::size_t dot = name.find('.');
  op.schema.ns = name.substr(0, dot == std::string_view::npos ? 0 : dot);
  op.schema.name = name.substr(dot == std::string_view::npos ? 0 : dot + 1);
  return impl_->add_variant(std::move(op), std::string(name), key);
}

OpId OpRegistry::with_keywords(OpId id, std::span<const std::string> names) {
  if (names.empty()) return id;
  const Op& base = get(id);
  std::string key = fmt::format("keywords {}", id.index);
  for (const std::string& name : names) append_counted(key, name);
  if (auto found = impl_->variants.find(key); found != impl_->variants.end()) return found->second;

  if (!base.schema.is_variadic_arguments) {
    fail("operator `{}` takes no further keyword arguments: `{}`", base.qualified_name,
         names.front());
  }
  Op op = base;
  op.base = base.base;
  std::vector<std::string_view> kept(names.begin(), names.end());
  keep_texts(op.schema, kept);
  for (std::string_view name : kept) {
    if (op.schema.find_argument(name) >= 0)
      fail("operator `{}` has an argument `{}` already", base.qualified_name, name);
    SchemaArgument& argument = op.schema.arguments.emplace_back();
    argument.name = name;
    argument.kwarg_only = true;
  }
  return impl_->add_variant(std::move(op), std::string(base.qualified_name), key);
}

std::vector<std::string> OpRegistry::similar_names(std::string_view name, std::size_t limit) const {
  std::string wanted = normalize_name(name);
  std::size_t bound = std::max<std::size_t>(wanted.size() / 4, 2);
  std::vector<std::pair<std::size_t, std::string_view>> near;
  for_each([&](OpId, std::string_view known) {
    std::string_view short_name = known;
    if (short_name.ends_with(".default")) short_name.remove_suffix(8);
    std::size_t distance =
        std::min(edit_distance(wanted, known, bound), edit_distance(wanted, short_name, bound));
    if (distance <= bound) near.emplace_back(distance, known);
  });
  std::sort(near.begin(), near.end());
  std::vector<std::string> names;
  for (std::size_t i = 0; i < near.size() && i < limit; ++i) names.emplace_back(near[i].second);
  return names;
}

}  // namespace winze
