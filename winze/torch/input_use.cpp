// SPDX-License-Identifier: Apache-2.0
#include "winze/torch/input_use.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "winze/effects/call_arguments.h"
#include "winze/effects/higher_order_calls.h"
#include "winze/support/integer_map.h"

namespace winze {
namespace {

/// Values that are followed at most from one input.
constexpr std::size_t max_values = 20'000;
/// What a number read from a tensor is at most, where its range says nothing.
constexpr std::int64_t open_end = 9;

/// Results hold elements of their tensor arguments, unchanged. In-place forms count as these.
constexpr std::string_view moving[] = {
    "_assert_async",
    "_reshape_alias",
    "_to_copy",
    "_unsafe_view",
    "alias",
    "as_strided",
    "broadcast_to",
    "cat",
    "chunk",
    "clone",
    "concat",
    "constant_pad_nd",
    "contiguous",
    "copy",
    "detach",
    "diagonal",
    "expand",
    "expand_as",
    "flatten",
    "flip",
    "int",
    "lift_fresh",
    "lift_fresh_copy",
    "long",
    "masked_select",
    "mT",
    "movedim",
    "narrow",
    "numpy_T",
    "pad",
    "permute",
    "ravel",
    "repeat",
    "repeat_interleave",
    "reshape",
    "reshape_as",
    "roll",
    "select",
    "slice",
    "sort",
    "split",
    "split_with_sizes",
    "squeeze",
    "stack",
    "swapaxes",
    "t",
    "tensor_split",
    "tile",
    "to",
    "transpose",
    "type_as",
    "unbind",
    "unflatten",
    "unfold",
    "unsqueeze",
    "view",
    "view_as",
};

/// `index` of a call indexes dimension `dim` of `source`; an empty `dim` stands for dimension 0.
struct IndexRow {
  std::string_view op;
  std::string_view index;
  std::string_view source;
  std::string_view dim;
  bool writes = false;
};

constexpr IndexRow index_rows[] = {
    {"embedding", "indices", "weight", ""},
    {"embedding_renorm", "indices", "self", ""},
    {"embedding_bag", "indices", "weight", ""},
    {"_embedding_bag", "indices", "weight", ""},
    {"_embedding_bag_forward_only", "indices", "weight", ""},
    {"index_select", "index", "self", "dim"},
    {"gather", "index", "self", "dim"},
    {"take_along_dim", "indices", "self", "dim"},
    {"scatter", "index", "self", "dim", true},
    {"scatter_add", "index", "self", "dim"},
    {"scatter_reduce", "index", "self", "dim"},
    {"index_add", "index", "self", "dim"},
    {"index_copy", "index", "self", "dim", true},
    {"index_fill", "index", "self", "dim"},
    {"index_reduce", "index", "self", "dim"},
    {"select", "index", "self", "dim"},
};

/// Operators whose target argument holds classes: dimension 1 of the scores, 0 for a single sample.
constexpr std::string_view class_losses[] = {"cross_entropy_loss", "nll_loss",
                                             "nll_loss_nd",        "nll_loss_forward",
                                             "nll_loss2d",         "nll_loss2d_forward"};
constexpr std::string_view roots[] = {"log", "log2", "log10", "sqrt", "rsqrt", "digamma", "lgamma"};
constexpr std::string_view fractions[] = {
    "acos",  "asin",       "atanh", "erfinv", "bernoulli", "logit", "binary_cross_entropy",
    "log1p", "multinomial"};
constexpr std::string_view integer_divisions[] = {"floor_divide", "remainder", "fmod",
                                                  "div",          "floordiv",  "mod"};
constexpr std::string_view index_lists[] = {"index", "index_put", "_index_put_impl",
                                            "_unsafe_index", "_unsafe_index_put"};

bool is_one_of(std::string_view name, std::span<const std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

/// `aten.add_.Tensor` is `add`.
std::string_view base_name(Node call) {
  std::string_view name = call.target();
  name = name.substr(name.find('.') + 1);
  name = name.substr(0, name.find('.'));
  if (name.size() > 1 && name.ends_with('_') && !name.starts_with("__")) name.remove_suffix(1);
  return name;
}

/// A value that holds `scale * v + shift` for elements `v` of the input, plus something between 0
/// and `spread`.
struct Followed {
  Value value;
  std::int64_t scale = 1;
  std::int64_t shift = 0;
  SymInt spread;
};

class UseFinder {
 public:
  InputUse find(Value input);

 private:
  void follow(const Followed& from, Value result) {
    push({result, from.scale, from.shift, from.spread});
  }
  void push(const Followed& followed);
  void follow_results(const Followed& from, Node call);
  void visit_use(const Followed& from, Node call);
  void visit_bodies(const Followed& from, Node call);
  bool visit_arithmetic(const Followed& from, Node call, std::string_view name);
  void visit_index(const Followed& from, Node call, std::string_view name);
  void visit_index_list(const Followed& from, Node call, std::string_view name);
  void visit_number(const Followed& from, Node call);
  void visit_meaning(const Followed& from, Node call, std::string_view name);
  void visit_truth(const Followed& from, Node call, std::string_view name);
  void bound(const Followed& from, SymInt low, SymInt high) {
    SymbolicContext& symbols = from.value.graph().context().symbols();
    use_.bounds.push_back({from.scale, from.shift, low, symbols.sub(high, from.spread)});
  }
  bool visit_sum_of_tensors(const Followed& from, Node call);
  [[nodiscard]] static std::optional<std::uint32_t> position(Node call, std::string_view name);
  [[nodiscard]] static Argument argument(Node call, std::string_view name);
  [[nodiscard]] static bool is_argument(Node call, std::string_view name, Value value);
  [[nodiscard]] static const TensorMeta* tensor_argument(Node call, std::string_view name);
  [[nodiscard]] static std::optional<std::int64_t> constant_beside(Node call, Value value);

  InputUse use_;
  std::vector<Followed> pending_;
  IntegerSet seen_;
};

InputUse UseFinder::find(Value input) {
  push({input});
  while (!pending_.empty()) {
    const Followed followed = pending_.back();
    pending_.pop_back();
    for (const Node user : followed.value.users()) {
      if (user.is_call()) visit_use(followed, user);
    }
  }
  return std::move(use_);
}

void UseFinder::push(const Followed& followed) {
  const std::uint64_t key = static_cast<std::uint64_t>(followed.value.graph().serial()) << 32U |
                            followed.value.id().index;
  if (seen_.size() < max_values && seen_.insert(key).second) pending_.push_back(followed);
}

std::optional<std::uint32_t> UseFinder::position(Node call, std::string_view name) {
  const Schema& schema = call.graph().context().ops().get(call.op()).schema;
  const int found = schema.find_argument(name);
  if (found < 0 || static_cast<std::uint32_t>(found) >= call.argument_count()) return std::nullopt;
  return static_cast<std::uint32_t>(found);
}

Argument UseFinder::argument(Node call, std::string_view name) {
  const auto found = position(call, name);
  return found ? call.argument_or_default(*found) : Argument::none();
}

bool UseFinder::is_argument(Node call, std::string_view name, Value value) {
  const auto found = position(call, name);
  return found && call.argument_value(*found) == value;
}

const TensorMeta* UseFinder::tensor_argument(Node call, std::string_view name) {
  const auto found = position(call, name);
  if (!found) return nullptr;
  const Value value = call.argument_value(*found);
  return value.valid() && value.is_tensor() ? &value.meta().tensor : nullptr;
}

/// The whole number that stands beside a value in a call of two operands.
std::optional<std::int64_t> UseFinder::constant_beside(Node call, Value value) {
  if (call.argument_count() < 2) return std::nullopt;
  const Argument other = call.argument_value(0) == value ? call.argument(1) : call.argument(0);
  if (other.kind() == ArgumentKind::integer) return other.integer();
  if (other.kind() == ArgumentKind::floating &&
      other.floating() == static_cast<double>(static_cast<std::int64_t>(other.floating())))
    return static_cast<std::int64_t>(other.floating());
  return std::nullopt;
}

void UseFinder::follow_results(const Followed& from, Node call) {
  for (const Value result : call.values()) follow(from, result);
}

void UseFinder::visit_use(const Followed& from, Node call) {
  const Op& op = call.graph().context().ops().get(call.op());
  if (op.is_higher_order()) return visit_bodies(from, call);
  const std::string_view name = base_name(call);
  visit_index(from, call, name);
  visit_truth(from, call, name);
  visit_meaning(from, call, name);
  if (name == "item" || name == "_local_scalar_dense") return visit_number(from, call);
  if (visit_arithmetic(from, call, name)) return;
  // What is copied into a buffer is read there later.
  if (name == "copy" && is_argument(call, "src", from.value) && call.argument_value(0).valid())
    follow(from, call.argument_value(0));
  const bool is_gathered =
      (name == "index_select" || name == "gather" || name == "index" || name == "masked_fill") &&
      is_argument(call, "self", from.value);
  const bool is_chosen = name == "where" && !is_argument(call, "condition", from.value);
  if (is_one_of(name, moving) || is_gathered || is_chosen) follow_results(from, call);
}

void UseFinder::visit_bodies(const Followed& from, Node call) {
  for_each_body(call, [&](Graph& body) {
    const auto operands = body_operands(call, body);
    if (!operands) return;
    const std::vector<Node> placeholders = body.placeholders();
    for (std::size_t index = 0; index < std::min(operands->size(), placeholders.size()); ++index) {
      const Argument& operand = (*operands)[index];
      if (operand.is_value() && operand.value_id() == from.value.id())
        follow(from, placeholders[index].value());
    }
  });
}

bool UseFinder::visit_arithmetic(const Followed& from, Node call, std::string_view name) {
  const bool is_sum = name == "add" || name == "sub";
  if (!is_sum && name != "mul") return false;
  const auto constant = constant_beside(call, from.value);
  if (!constant) return name != "add" || visit_sum_of_tensors(from, call);
  const bool is_first = call.argument_value(0) == from.value;
  Followed result{call.value(), from.scale, from.shift, from.spread};
  if (name == "mul") {
    if (*constant == 0 || from.spread != SymInt(0) || std::abs(*constant) > 1'000'000 ||
        std::abs(from.scale) > 1'000'000)
      return true;
    result.scale *= *constant;
    result.shift *= *constant;
  } else if (name == "add") {
    result.shift += *constant;
  } else if (is_first) {
    result.shift -= *constant;
  } else {
    if (from.spread != SymInt(0)) return true;
    result = {call.value(), -from.scale, *constant - from.shift};
  }
  push(result);
  return true;
}

/// A position is often the sum of a start and `arange(n)`; another tensor is taken to be small.
bool UseFinder::visit_sum_of_tensors(const Followed& from, Node call) {
  Followed result{call.value(), from.scale, from.shift, from.spread};
  const Value other =
      call.argument_value(0) == from.value ? call.argument_value(1) : call.argument_value(0);
  if (other.valid() && other.is_tensor() && base_name(other.node()) == "arange") {
    SymbolicContext& symbols = call.graph().context().symbols();
    const SymInt last = symbols.sub(other.meta().tensor.sizes[0], 1);
    result.spread = symbols.add(from.spread, last);
  }
  push(result);
  return true;
}

void UseFinder::visit_index(const Followed& from, Node call, std::string_view name) {
  if (is_one_of(name, index_lists)) return visit_index_list(from, call, name);
  if (name == "one_hot") {
    const Argument classes = argument(call, "num_classes");
    const bool is_known = classes.kind() == ArgumentKind::integer && classes.integer() > 0;
    return bound(from, 0, is_known ? classes.integer() : open_end);
  }
  if (name == "bincount" || name == "repeat_interleave") {
    if (!is_argument(call, "weights", from.value) &&
        (name == "bincount" || is_argument(call, "repeats", from.value)))
      bound(from, 0, open_end);
    return;
  }
  if (is_one_of(name, class_losses) && is_argument(call, "target", from.value)) {
    if (const TensorMeta* scores = tensor_argument(call, "self");
        scores != nullptr && scores->dim() > 0)
      bound(from, 0, scores->sizes[scores->dim() > 1 ? 1 : 0]);
    return;
  }
  if (name == "take" && is_argument(call, "index", from.value)) {
    if (const TensorMeta* source = tensor_argument(call, "self")) {
      SymInt count = 1;
      for (const SymInt size : source->sizes)
        count = call.graph().context().symbols().mul(count, size);
      bound(from, 0, count);
    }
    return;
  }
  for (const IndexRow& row : index_rows) {
    if (row.op != name || !is_argument(call, row.index, from.value)) continue;
    const TensorMeta* source = tensor_argument(call, row.source);
    if (source == nullptr || source->dim() == 0) return;
    const Argument dim = row.dim.empty() ? Argument(0) : argument(call, row.dim);
    if (dim.kind() != ArgumentKind::integer) return;
    const auto count = static_cast<std::int64_t>(source->dim());
    const std::int64_t axis = dim.integer() < 0 ? dim.integer() + count : dim.integer();
    if (axis < 0 || axis >= count) return;
    use_.is_distinct |= row.writes;
    bound(from, 0, source->sizes[static_cast<std::size_t>(axis)]);
  }
}

/// Element `k` of `indices` indexes dimension `k`; None stands for a whole dimension, a mask for as
/// many as it has.
void UseFinder::visit_index_list(const Followed& from, Node call, std::string_view name) {
  const TensorMeta* source = tensor_argument(call, "self");
  const Argument list = argument(call, "indices");
  if (source == nullptr || !list.is_list()) return;
  std::size_t axis = 0;
  for (std::uint32_t place = 0; place < list.count(); ++place) {
    const Argument element = call.element(list, place);
    std::size_t covered = 1;
    if (element.is_value()) {
      const Meta& meta = call.graph().value_at(element.value_id()).meta();
      const bool is_mask = meta.is_tensor() && (meta.tensor.dtype == ScalarType::bool_ ||
                                                meta.tensor.dtype == ScalarType::uint8);
      if (is_mask) {
        covered = meta.tensor.dim();
        if (element.value_id() == from.value.id()) use_.is_truth = true;
      } else if (element.value_id() == from.value.id() && axis < source->dim()) {
        const bool accumulates = argument(call, "accumulate").kind() == ArgumentKind::boolean &&
                                 argument(call, "accumulate").boolean();
        use_.is_distinct |= !accumulates && name.find("put") != std::string_view::npos;
        bound(from, 0, source->sizes[axis]);
      }
    }
    axis += covered;
  }
}

/// A number is read from the tensor: the symbol that it becomes has a range.
void UseFinder::visit_number(const Followed& from, Node call) {
  const Meta& meta = call.value().meta();
  if (meta.kind == ValueKind::sym_bool) use_.is_truth = true;
  if (meta.kind != ValueKind::sym_int || !meta.has_expression) return;
  const Range range = call.graph().context().symbols().range(meta.expression);
  const std::int64_t low =
      std::max<std::int64_t>(range.lo, range.lo == Range::minus_infinity ? 0 : -open_end);
  const std::int64_t high = range.hi == Range::infinity ? std::max(low, open_end) : range.hi;
  bound(from, low, high + 1);
}

void UseFinder::visit_truth(const Followed& from, Node call, std::string_view name) {
  const Meta& result = call.value_count() == 0 ? from.value.meta() : call.value().meta();
  const bool to_bool = (name == "to" || name == "_to_copy" || name == "bool") &&
                       result.is_tensor() && result.tensor.dtype == ScalarType::bool_;
  const bool is_logic =
      name.starts_with("logical_") || name == "bitwise_not" || name == "all" || name == "any" ||
      ((name == "masked_fill" || name == "masked_select" || name == "masked_scatter") &&
       is_argument(call, "mask", from.value));
  const bool is_condition = name == "where" && is_argument(call, "condition", from.value);
  const auto constant = constant_beside(call, from.value);
  const bool is_compared =
      (name == "eq" || name == "ne") && constant && (*constant == 0 || *constant == 1);
  const bool is_complement =
      constant == 1 && (name == "rsub" || (name == "sub" && call.argument_value(0) != from.value));
  use_.is_truth |= to_bool || is_logic || is_condition || is_compared || is_complement;
}

void UseFinder::visit_meaning(const Followed& from, Node call, std::string_view name) {
  const bool is_first = call.argument_count() != 0 && call.argument_value(0) == from.value;
  if (is_first && is_one_of(name, roots)) use_.is_positive = true;
  if (is_first && is_one_of(name, fractions)) use_.is_fraction = true;
  if (!is_first && is_one_of(name, integer_divisions)) use_.is_divisor = true;
  if (name.find("scaled_dot_product") != std::string_view::npos &&
      (is_argument(call, "attn_mask", from.value) || is_argument(call, "attn_bias", from.value)))
    use_.is_additive_mask = true;
  if (name.find("embedding_bag") != std::string_view::npos &&
      is_argument(call, "offsets", from.value)) {
    if (const TensorMeta* indices = tensor_argument(call, "indices");
        indices != nullptr && indices->dim() == 1) {
      use_.is_offsets = true;
      use_.offsets_end = indices->sizes[0];
    }
  }
}

}  // namespace

InputUse find_input_use(Value input) {
  return UseFinder().find(input);
}

}  // namespace winze
