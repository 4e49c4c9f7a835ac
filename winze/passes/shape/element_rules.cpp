// SPDX-License-Identifier: Apache-2.0
#include "winze/passes/shape/element_rules.h"

#include <algorithm>
#include <unordered_map>

#include "winze/schema/op_ids.h"
#include "winze/shape/sizes.h"

namespace winze {
namespace {

using Elements = std::vector<SymExpr>;
using Result = std::optional<Elements>;
using Coordinates = std::vector<std::int64_t>;

std::int64_t count_of(Sizes sizes) {
  std::int64_t count = 1;
  for (const SymInt size : sizes) count *= size.constant();
  return count;
}

/// Calls `visit` with each position of a tensor of these sizes, in row-major order.
template <typename Visit>
void for_each_position(Sizes sizes, const Visit& visit) {
  Coordinates at(sizes.size(), 0);
  for (std::int64_t left = count_of(sizes); left > 0; --left) {
    visit(at);
    for (std::size_t dim = sizes.size(); dim-- > 0;) {
      if (++at[dim] < sizes[dim].constant()) break;
      at[dim] = 0;
    }
  }
}

/// What a call is given and yields, as elements.
class ElementCall {
 public:
  ElementCall(const Node& node, std::uint32_t result, const ElementLookup& lookup)
      : node_(node),
        result_(node.value(result).meta().tensor),
        env_(node.graph().context().symbols()),
        lookup_(lookup) {}

  [[nodiscard]] const Node& node() const { return node_; }
  [[nodiscard]] const ShapeEnv& env() const { return env_; }
  [[nodiscard]] SymbolicContext& symbols() const { return env_.symbols(); }
  [[nodiscard]] const TensorMeta& result() const { return result_; }
  [[nodiscard]] Argument argument(std::uint32_t index) const {
    return index < node_.argument_count() ? node_.argument_or_default(index) : Argument::none();
  }
  [[nodiscard]] const TensorMeta& tensor(std::uint32_t index) const {
    return node_.argument_value(index).meta().tensor;
  }
  [[nodiscard]] bool is_tensor(std::uint32_t index) const {
    const Value value = node_.argument_value(index);
    return value && value.is_tensor();
  }
  [[nodiscard]] const Elements* elements(std::uint32_t index) const {
    return is_tensor(index) ? lookup_(node_.argument_value(index)) : nullptr;
  }
  [[nodiscard]] const Elements* elements(Value value) const { return lookup_(value); }

  /// A number that is an integer or a truth value.
  [[nodiscard]] std::optional<SymExpr> number(const Argument& given) const {
    if (given.kind() == ArgumentKind::integer) return SymExpr(given.integer());
    if (given.kind() == ArgumentKind::boolean) return SymExpr(given.boolean() ? 1 : 0);
    if (!given.is_value()) return std::nullopt;
    const Meta& meta = node_.graph().value_at(given.value_id()).meta();
    if (meta.kind != ValueKind::sym_int || !meta.has_expression) return std::nullopt;
    return meta.expression;
  }
  [[nodiscard]] std::optional<SymExpr> number(std::uint32_t index) const {
    return number(argument(index));
  }

  [[nodiscard]] Elements filled(SymExpr element) const {
    return Elements(static_cast<std::size_t>(count_of(result_.sizes)), element);
  }

  /// An operand, broadcast to the result: a tensor or a number.
  [[nodiscard]] Result broadcast(std::uint32_t index) const {
    if (!is_tensor(index)) {
      const auto element = number(index);
      return element ? Result(filled(*element)) : std::nullopt;
    }
    const Elements* const given = elements(index);
    if (given == nullptr) return std::nullopt;
    const Sizes sizes = tensor(index).sizes;
    const std::size_t added = result_.sizes.size() - sizes.size();
    Elements found;
    for_each_position(result_.sizes, [&](const Coordinates& at) {
      std::int64_t position = 0;
      for (std::size_t dim = 0; dim < sizes.size(); ++dim) {
        const std::int64_t size = sizes[dim].constant();
        position = position * size + (size == 1 ? 0 : at[dim + added]);
      }
      found.push_back((*given)[static_cast<std::size_t>(position)]);
    });
    return found;
  }

 private:
  const Node& node_;
  const TensorMeta& result_;
  ShapeEnv env_;
  const ElementLookup& lookup_;
};

// --- Factories

Result zeros(const ElementCall& call) {
  return call.filled(0);
}
Result ones(const ElementCall& call) {
  return call.filled(1);
}
/// The argument `At` fills it.
template <std::uint32_t At>
Result full(const ElementCall& call) {
  const auto element = call.number(At);
  return element ? Result(call.filled(*element)) : std::nullopt;
}
/// `Bounds` is how many of start, end and step there are.
template <int Bounds>
Result arange(const ElementCall& call) {
  const auto start = Bounds == 1 ? SymExpr(0) : call.number(0);
  const auto step = Bounds == 3 ? call.number(2) : SymExpr(1);
  if (!start || !step) return std::nullopt;
  Elements elements;
  SymExpr next = *start;
  for (std::int64_t left = count_of(call.result().sizes); left > 0; --left) {
    elements.push_back(next);
    next = call.env().add(next, *step);
  }
  return elements;
}

// --- Views and copies

/// What keeps the elements in their order: reshape, clone, a cast between integers.
Result same(const ElementCall& call) {
  const Elements* const given = call.elements(0);
  return given == nullptr ? std::nullopt : Result(*given);
}

/// A view of the first argument, by where both metas say that elements lie in the storage.
Result view(const ElementCall& call) {
  const Elements* const given = call.elements(0);
  if (given == nullptr) return std::nullopt;
  const auto place = [](const TensorMeta& tensor, const Coordinates& at) {
    std::int64_t position = tensor.storage_offset.constant();
    for (std::size_t dim = 0; dim < at.size(); ++dim)
      position += at[dim] * tensor.strides[dim].constant();
    return position;
  };
  if (!call.tensor(0).is_static() || !call.result().is_static()) return std::nullopt;
  std::unordered_map<std::int64_t, SymExpr> storage;
  std::size_t next = 0;
  for_each_position(call.tensor(0).sizes, [&](const Coordinates& at) {
    storage.emplace(place(call.tensor(0), at), (*given)[next++]);
  });
  Elements elements;
  bool complete = true;
  for_each_position(call.result().sizes, [&](const Coordinates& at) {
    const auto found = storage.find(place(call.result(), at));
    if (found != storage.end()) elements.push_back(found->second);
    complete = complete && found != storage.end();
  });
  return complete ? Result(elements) : std::nullopt;
}

/// cat and stack: one row of each tensor after the other.
Result join(const ElementCall& call) {
  const Argument list = call.argument(0);
  const auto dim_given = call.number(1);
  if (!list.is_list() || !dim_given || !dim_given->is_constant()) return std::nullopt;
  const Sizes sizes = call.result().sizes;
  const auto rank = static_cast<std::int64_t>(sizes.size());
  const std::int64_t dim = dim_given->constant() + (dim_given->constant() < 0 ? rank : 0);
  if (dim < 0 || dim >= rank) return std::nullopt;
  const std::int64_t outer = count_of(sizes.first(static_cast<std::size_t>(dim)));
  if (outer == 0) return Elements();
  Elements elements;
  for (std::int64_t row = 0; row < outer; ++row) {
    for (std::uint32_t at = 0; at < list.count(); ++at) {
      const Argument item = call.node().element(list, at);
      const Elements* const given =
          item.is_value() ? call.elements(call.node().graph().value_at(item.value_id())) : nullptr;
      if (given == nullptr) return std::nullopt;
      const auto length = static_cast<std::ptrdiff_t>(given->size()) / outer;
      elements.insert(elements.end(), given->begin() + row * length,
                      given->begin() + (row + 1) * length);
    }
  }
  return elements;
}

// --- Arithmetic

using Binary = std::optional<SymExpr> (*)(const ShapeEnv& env, SymExpr a, SymExpr b);

std::optional<SymExpr> add(const ShapeEnv& env, SymExpr a, SymExpr b) {
  return env.add(a, b);
}
std::optional<SymExpr> sub(const ShapeEnv& env, SymExpr a, SymExpr b) {
  return env.sub(a, b);
}
std::optional<SymExpr> mul(const ShapeEnv& env, SymExpr a, SymExpr b) {
  return env.mul(a, b);
}
std::optional<SymExpr> maximum(const ShapeEnv& env, SymExpr a, SymExpr b) {
  return env.max(a, b);
}
std::optional<SymExpr> minimum(const ShapeEnv& env, SymExpr a, SymExpr b) {
  return env.min(a, b);
}
std::optional<SymExpr> floor_divide(const ShapeEnv& env, SymExpr a, SymExpr b) {
  if (env.symbols().range(b).contains(0)) return std::nullopt;
  return env.floor_div(a, b);
}
std::optional<SymExpr> remainder(const ShapeEnv& env, SymExpr a, SymExpr b) {
  if (env.symbols().range(b).contains(0)) return std::nullopt;
  return env.mod(a, b);
}
std::optional<SymExpr> from_proof(Proof proof) {
  if (proof == Proof::unknown) return std::nullopt;
  return SymExpr(proof == Proof::yes ? 1 : 0);
}
std::optional<SymExpr> opposite(std::optional<SymExpr> truth) {
  return truth ? std::optional(SymExpr(1 - truth->constant())) : std::nullopt;
}
std::optional<SymExpr> eq(const ShapeEnv& env, SymExpr a, SymExpr b) {
  return from_proof(env.equal(a, b));
}
std::optional<SymExpr> ne(const ShapeEnv& env, SymExpr a, SymExpr b) {
  return opposite(eq(env, a, b));
}
std::optional<SymExpr> lt(const ShapeEnv& env, SymExpr a, SymExpr b) {
  return from_proof(env.less(a, b));
}
std::optional<SymExpr> le(const ShapeEnv& env, SymExpr a, SymExpr b) {
  return from_proof(env.less_equal(a, b));
}
std::optional<SymExpr> gt(const ShapeEnv& env, SymExpr a, SymExpr b) {
  return lt(env, b, a);
}
std::optional<SymExpr> ge(const ShapeEnv& env, SymExpr a, SymExpr b) {
  return le(env, b, a);
}

/// Element by element; what is between `Alpha` and its default of 1 is multiplied to the second.
template <Binary Apply, std::uint32_t Alpha = 0>
Result binary(const ElementCall& call) {
  const Result a = call.broadcast(0);
  const Result b = call.broadcast(1);
  const auto alpha = Alpha == 0 ? SymExpr(1) : call.number(Alpha);
  if (!a || !b || !alpha) return std::nullopt;
  Elements elements;
  for (std::size_t index = 0; index < a->size(); ++index) {
    const auto element = Apply(call.env(), (*a)[index], call.env().mul((*b)[index], *alpha));
    if (!element) return std::nullopt;
    elements.push_back(*element);
  }
  return elements;
}

Result div_floor(const ElementCall& call) {
  const Argument mode = call.argument(2);
  if (mode.kind() != ArgumentKind::string ||
      call.node().graph().context().text(mode.string_id()) != "floor")
    return std::nullopt;
  return binary<floor_divide>(call);
}

Result neg(const ElementCall& call) {
  const Elements* const given = call.elements(0);
  if (given == nullptr) return std::nullopt;
  Elements elements;
  for (const SymExpr element : *given) elements.push_back(call.env().sub(0, element));
  return elements;
}

/// All elements into one.
template <Binary Apply>
Result reduce(const ElementCall& call, std::optional<SymExpr> start) {
  const Elements* const given = call.elements(0);
  if (given == nullptr || (given->empty() && !start)) return std::nullopt;
  std::optional<SymExpr> total = start;
  for (const SymExpr element : *given) {
    total = total ? Apply(call.env(), *total, element) : element;
    if (!total) return std::nullopt;
  }
  return Elements{*total};
}
Result sum(const ElementCall& call) {
  return reduce<add>(call, 0);
}
Result prod(const ElementCall& call) {
  return reduce<mul>(call, 1);
}
Result max_of_all(const ElementCall& call) {
  return reduce<maximum>(call, std::nullopt);
}
Result min_of_all(const ElementCall& call) {
  return reduce<minimum>(call, std::nullopt);
}

struct Row {
  OpId op;
  Result (*rule)(const ElementCall&);
};

constexpr Row rows[] = {
    {op::aten__to_copy_default, same},
    {op::aten__unsafe_view_default, same},
    {op::aten_add_Scalar, binary<add, 2>},
    {op::aten_add_Tensor, binary<add, 2>},
    {op::aten_arange_default, arange<1>},
    {op::aten_arange_start, arange<2>},
    {op::aten_arange_start_step, arange<3>},
    {op::aten_cat_default, join},
    {op::aten_clone_default, same},
    {op::aten_contiguous_default, same},
    {op::aten_div_Scalar_mode, div_floor},
    {op::aten_div_Tensor_mode, div_floor},
    {op::aten_eq_Scalar, binary<eq>},
    {op::aten_eq_Tensor, binary<eq>},
    {op::aten_flatten_using_ints, same},
    {op::aten_floor_divide_default, binary<floor_divide>},
    {op::aten_full_default, full<1>},
    {op::aten_full_like_default, full<1>},
    {op::aten_ge_Scalar, binary<ge>},
    {op::aten_ge_Tensor, binary<ge>},
    {op::aten_gt_Scalar, binary<gt>},
    {op::aten_gt_Tensor, binary<gt>},
    {op::aten_le_Scalar, binary<le>},
    {op::aten_le_Tensor, binary<le>},
    {op::aten_lift_fresh_copy_default, same},
    {op::aten_lt_Scalar, binary<lt>},
    {op::aten_lt_Tensor, binary<lt>},
    {op::aten_max_default, max_of_all},
    {op::aten_maximum_default, binary<maximum>},
    {op::aten_min_default, min_of_all},
    {op::aten_minimum_default, binary<minimum>},
    {op::aten_mul_Scalar, binary<mul>},
    {op::aten_mul_Tensor, binary<mul>},
    {op::aten_ne_Scalar, binary<ne>},
    {op::aten_ne_Tensor, binary<ne>},
    {op::aten_neg_default, neg},
    {op::aten_new_full_default, full<2>},
    {op::aten_new_ones_default, ones},
    {op::aten_new_zeros_default, zeros},
    {op::aten_ones_default, ones},
    {op::aten_ones_like_default, ones},
    {op::aten_prod_default, prod},
    {op::aten_remainder_Scalar, binary<remainder>},
    {op::aten_remainder_Tensor, binary<remainder>},
    {op::aten_reshape_default, same},
    {op::aten_scalar_tensor_default, full<0>},
    {op::aten_stack_default, join},
    {op::aten_sub_Scalar, binary<sub, 2>},
    {op::aten_sub_Tensor, binary<sub, 2>},
    {op::aten_sum_default, sum},
    {op::aten_to_device, same},
    {op::aten_to_dtype, same},
    {op::aten_to_dtype_layout, same},
    {op::aten_zeros_default, zeros},
    {op::aten_zeros_like_default, zeros},
};

static_assert(std::ranges::is_sorted(rows, {}, [](const Row& row) { return row.op.index; }));

/// Views that show every element as it is: all but those that change its dtype or conjugate it.
bool is_plain_view(const Op& op, const ElementCall& call) {
  return op.is_view() && !op.effects.writes_anything() && call.is_tensor(0) &&
         call.tensor(0).dtype == call.result().dtype && op.id != op::aten_view_dtype;
}

}  // namespace

std::optional<std::vector<SymExpr>> infer_elements(const Node& call, std::uint32_t result,
                                                   const ElementLookup& lookup) {
  const ElementCall elements(call, result, lookup);
  const auto row = std::ranges::lower_bound(rows, call.op().index, {},
                                            [](const Row& each) { return each.op.index; });
  if (row != std::end(rows) && row->op == call.op()) return row->rule(elements);
  const Op& op = call.graph().context().ops().get(call.op());
  return is_plain_view(op, elements) ? view(elements) : std::nullopt;
}

}  // namespace winze
