// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace winze {

/// What a schema type is before any `?` or `[]` is put behind it.
enum class TypeKind : std::uint8_t {
  tensor,         ///< `Tensor`
  int_,           ///< `int`
  sym_int,        ///< `SymInt`
  float_,         ///< `float`
  sym_float,      ///< `SymFloat`
  bool_,          ///< `bool`
  sym_bool,       ///< `SymBool`
  complex,        ///< `complex`
  scalar,         ///< `Scalar`: an int, float, bool or complex, symbolic or not
  str,            ///< `str`
  scalar_type,    ///< `ScalarType`
  layout,         ///< `Layout`
  memory_format,  ///< `MemoryFormat`
  qscheme,        ///< `QScheme`
  device,         ///< `Device`
  generator,      ///< `Generator`
  storage,        ///< `Storage`
  stream,         ///< `Stream`
  dimname,        ///< `Dimname`
  any,            ///< `Any`
  none,           ///< `NoneType`
  any_enum,       ///< `AnyEnumType`
  any_class,      ///< `AnyClassType`
  token,          ///< `Token`: orders effects; not a PyTorch type
  graph,          ///< `Graph`: a nested graph; not a PyTorch type
  op,             ///< `Op`: an operator as a value; not a PyTorch type
  py_object,      ///< `PyObject`
  type_variable,  ///< `t`, `t1`, `tVal`
  tuple,          ///< `(A, B)`
  dict,           ///< `Dict(K, V)`
  future,         ///< `Future(T)`
  rref,           ///< `RRef(T)`
  await,          ///< `Await(T)`
  custom_class,   ///< `__torch__.torch.classes.ns.Name`
};

/// The type of an argument or result, such as `Tensor`, `int[2]?`, `Tensor?[]`, `Dict(str,
/// Tensor)[]`.
///
/// A base kind followed by at most four of `?`, `[]`, `[N]`, innermost first. Cheap to copy: only
/// tuples, dictionaries and the like, and named classes, refer to shared memory.
class Type {
 public:
  /// At most so many `?`, `[]` and `[N]`.
  static constexpr int max_modifiers = 4;
  /// The largest N of `T[N]`.
  static constexpr int max_list_size = 250;

  constexpr Type() = default;
  explicit Type(TypeKind kind) : kind_(kind) {}
  /// A type variable or a custom class of that name.
  Type(TypeKind kind, std::string name);
  /// A tuple, dictionary, future, rref or await of these.
  Type(TypeKind kind, std::vector<Type> elements);

  /// `T?`
  [[nodiscard]] Type optional() const;
  /// `T[]`
  [[nodiscard]] Type list() const;
  /// `T[N]`: a list for which a single value may stand too.
  [[nodiscard]] Type list(int size) const;

  /// The kind without any `?` and `[]`: `tensor` for `Tensor?[]`.
  [[nodiscard]] TypeKind base_kind() const { return kind_; }
  /// The base type without any `?` and `[]`.
  [[nodiscard]] Type base() const;
  [[nodiscard]] bool is_optional() const { return modifier_count_ > 0 && last() == optional_code; }
  /// The type without its outermost `?`.
  [[nodiscard]] Type without_optional() const { return is_optional() ? without_last() : *this; }
  /// Is this a list (after an outermost `?` is set aside)?
  [[nodiscard]] bool is_list() const { return list_modifier() >= 0; }
  /// How often `[]` occurs: 2 for `Tensor[][]`.
  [[nodiscard]] int list_depth() const;
  /// The type of a list's elements: `Tensor?` for `Tensor?[]`. Only for lists.
  [[nodiscard]] Type element() const;
  /// N of `T[N]`; 0 for `T[]` and for types that are no lists.
  [[nodiscard]] int list_size() const;
  /// A plain base without `?` and `[]`.
  [[nodiscard]] bool is_plain() const { return modifier_count_ == 0; }
  /// Is this exactly that kind, at most with `?` behind it?
  [[nodiscard]] bool is(TypeKind kind) const {
    return kind_ == kind && without_optional().is_plain();
  }
  /// How many `?` and `[]` there are.
  [[nodiscard]] int modifier_count() const { return modifier_count_; }

  /// Name of a custom class (`__torch__.torch.classes.c10d.Work`) or type variable; else empty.
  [[nodiscard]] std::string_view name() const;
  /// Element types of a tuple, dictionary, future, rref or await; else empty.
  [[nodiscard]] const std::vector<Type>& elements() const;

  /// As PyTorch spells it.
  [[nodiscard]] std::string str() const;
  /// Appends the base (where wanted) and the modifiers from `first_modifier` up to before
  /// `last_modifier`: an alias annotation stands between two such parts.
  void append_to(std::string& out, int first_modifier, int last_modifier, bool with_base) const;

  friend bool operator==(const Type& a, const Type& b);

 private:
  struct Detail {
    std::string name;
    std::vector<Type> elements;
  };
  static constexpr std::uint8_t optional_code = 1;
  static constexpr std::uint8_t list_code = 2;  ///< list_code + N stands for `[N]`

  [[nodiscard]] std::uint8_t last() const { return modifiers_[modifier_count_ - std::size_t{1}]; }
  [[nodiscard]] Type without_last() const;
  [[nodiscard]] Type with(std::uint8_t modifier) const;
  [[nodiscard]] int list_modifier() const;
  void append_base_to(std::string& out) const;

  TypeKind kind_ = TypeKind::any;
  std::uint8_t modifier_count_ = 0;
  std::array<std::uint8_t, max_modifiers> modifiers_{};
  std::shared_ptr<const Detail> detail_;
};

}  // namespace winze
