// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "winze/schema/op.h"
#include "winze/schema/op_id.h"

namespace winze {

/// One argument of an operator not known: its name (may be empty) and whether it was given by
/// keyword.
struct OpaqueArgument {
  std::string name;
  bool is_keyword = false;
  friend bool operator==(const OpaqueArgument&, const OpaqueArgument&) = default;
};

/// The operators of a context: those compiled in and those added at run time.
///
/// Making one costs next to nothing: schemas are parsed when first asked for. Not thread-safe; one
/// per context.
class OpRegistry {
 public:
  OpRegistry();
  ~OpRegistry();
  OpRegistry(const OpRegistry&) = delete;
  OpRegistry& operator=(const OpRegistry&) = delete;

  /// The operator of that name, or an invalid id.
  ///
  /// Takes the qualified name (`aten.add.Tensor`, `higher_order.cond`, `_operator.floordiv`), the
  /// target
  /// (`torch.ops.aten.add.Tensor`) and the schema spelling (`aten::add.Tensor`). A name without an
  /// overload means the default one. O(length of the name).
  [[nodiscard]] OpId find(std::string_view name) const;

  /// As find. \throws Error that suggests the nearest names.
  [[nodiscard]] OpId find_or_throw(std::string_view name) const;

  /// The operator; the reference stays valid as long as the registry. Parses its schema at first
  /// use.
  [[nodiscard]] const Op& get(OpId id) const;

  /// Its qualified name, without parsing anything.
  [[nodiscard]] std::string_view qualified_name(OpId id) const;

  /// All overloads of a packet such as `aten.add`, in order of name. O(result), plus a search.
  [[nodiscard]] std::vector<OpId> overloads(std::string_view packet) const;

  /// One more than the largest index of any operator.
  [[nodiscard]] std::uint32_t size() const;

  /// Calls `visit` for every operator that find finds, in order of name; variants and opaque
  /// operators are left out.
  void for_each(const std::function<void(OpId, std::string_view qualified_name)>& visit) const;

  /// Adds one operator by schema text, with tags as in a table (`core, pointwise`), and gives its
  /// id. One of that name and schema, with the same tags or none given, is given back as it is.
  /// \throws Error when the text does not parse, or one of that name has another schema or tags.
  OpId add(std::string_view schema_text, std::string_view tags = {});

  /// Adds every operator of a table (`*.schemas`): custom operators, each with only the effects
  /// that its schema and tags say. `file` names the text in errors. Nothing is added when any line
  /// is wrong or has a tag that is not known. Returns how many lines there were.
  std::size_t load_text(std::string_view text, std::string_view file = {});
  std::size_t load(const std::filesystem::path& path);

  /// Replaces the compiled-in table by that of another PyTorch release. Operators in both keep
  /// their ids; those not in the new table are no longer found. Only before any operator was used.
  void replace_table_text(std::string_view text, std::string_view file = {});
  void replace_table(const std::filesystem::path& path);

  /// The PyTorch release whose table is in use, such as `2.13.0`.
  [[nodiscard]] std::string_view torch_version() const;

  /// The operator known by its target alone, called with these arguments: every argument `Any`,
  /// results variadic, every effect. Equal calls give the same id. All of one target have the same
  /// `base`.
  OpId opaque(std::string_view target, std::span<const OpaqueArgument> arguments);

  /// The variant of `id` that takes further keyword arguments of these names, in this order; `id`
  /// itself when there are none. Only for operators with `...`. \throws Error when a name is taken
  /// or the operator is not variadic.
  OpId with_keywords(OpId id, std::span<const std::string> names);

  /// At most `limit` known names that resemble this one, nearest first.
  [[nodiscard]] std::vector<std::string> similar_names(std::string_view name,
                                                       std::size_t limit = 3) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace winze
