// SPDX-License-Identifier: Apache-2.0
#include "python/native/python_shape_rules.h"

#include <nanobind/stl/string.h>

#include <map>
#include <memory>

#include "winze/shape/shape_rules.h"
#include "winze/support/quote.h"

namespace winze {
namespace {

namespace nb = nanobind;

/// One operator's function, and what it has said so far.
class PythonRule {
 public:
  explicit PythonRule(nb::object function) : function_(std::move(function)) {}

  void run(ShapeCall& call) {
    const nb::gil_scoped_acquire acquire;
    std::vector<std::uint64_t> key;
    for (std::uint32_t index = 0; index < call.argument_count(); ++index)
      add_key(call, call.argument(index), key);
    auto found = known_.find(key);
    if (found == known_.end()) found = known_.emplace(std::move(key), ask(call)).first;
    for (const MetaId meta : found->second) call.yield(meta);
  }

 private:
  static Value value_of(const ShapeCall& call, const Argument& argument) {
    return call.graph().value_at(argument.value_id());
  }

  /// What the results follow from: metas and constants, both by what they are interned under, and
  /// the ranges that proofs rest on.
  static void add_key(const ShapeCall& call, const Argument& argument,
                      std::vector<std::uint64_t>& key) {
    key.push_back(static_cast<std::uint64_t>(argument.kind()));
    if (argument.is_value()) {
      key.push_back(value_of(call, argument).meta_id().index);
      key.push_back(call.env().symbols().range_epoch());
    } else if (argument.is_list()) {
      key.push_back(argument.count());
      for (std::uint32_t at = 0; at < argument.count(); ++at)
        add_key(call, call.element(argument, at), key);
    } else {
      key.push_back(argument.bits());
    }
  }

  std::vector<MetaId> ask(ShapeCall& call) {
    symbols_ = nb::dict();
    nb::list positional;
    nb::list keywords;
    const Schema& schema = call.op().schema;
    for (std::uint32_t index = 0; index < call.argument_count(); ++index) {
      positional.append(to_python(call, call.argument(index)));
      if (index < schema.arguments.size() && schema.arguments[index].kwarg_only)
        keywords.append(std::string(schema.arguments[index].name));
    }
    nb::object results;
    try {
      results = function_(positional, keywords, symbols_);
    } catch (nb::python_error& error) {
      const std::string text = nb::cast<std::string>(nb::str(error.value()));
      if (error.matches(PyExc_NotImplementedError)) call.cannot_infer("{}", text);
      throw Error(text);
    }
    std::vector<MetaId> metas;
    for (const nb::handle result : results) metas.push_back(from_python(call, result));
    return metas;
  }

  nb::object number(const ShapeCall& call, SymExpr expression) {
    if (expression.is_constant()) return nb::cast(expression.constant());
    const SymbolicContext& symbols = call.env().symbols();
    for (const SymExpr symbol : symbols.free_symbols(expression)) {
      const Range range = symbols.range(symbol);
      symbols_[nb::str(symbols.symbol_name(symbol).c_str())] =
          nb::make_tuple(range.lo == Range::minus_infinity ? nb::none() : nb::cast(range.lo),
                         range.hi == Range::infinity ? nb::none() : nb::cast(range.hi));
    }
    return nb::cast(symbols.srepr(expression));
  }

  nb::list numbers(const ShapeCall& call, std::span<const SymInt> values) {
    nb::list list;
    for (const SymInt value : values) list.append(number(call, value));
    return list;
  }

  template <typename T>
  static nb::list list_of(std::span<const T> values) {
    nb::list list;
    for (const T value : values) list.append(value);
    return list;
  }

  nb::object to_python(const ShapeCall& call, const Argument& argument) {
    const Context& context = call.context();
    switch (argument.kind()) {
      case ArgumentKind::none:
      case ArgumentKind::default_value:
        return nb::none();
      case ArgumentKind::integer:
        return nb::cast(argument.integer());
      case ArgumentKind::floating:
        return nb::cast(argument.floating());
      case ArgumentKind::boolean:
        return nb::cast(argument.boolean());
      case ArgumentKind::string:
        return nb::make_tuple("string", std::string(context.text(argument.string_id())));
      case ArgumentKind::dtype:
        return nb::make_tuple("dtype", std::string(full_name(argument.dtype())));
      case ArgumentKind::device:
        return nb::make_tuple("device", context.device_text(argument.device()));
      case ArgumentKind::layout:
        return nb::make_tuple("layout", std::string(name_of(argument.layout())));
      case ArgumentKind::memory_format:
        return nb::make_tuple("memory_format", std::string(name_of(argument.memory_format())));
      case ArgumentKind::value:
        return value_to_python(call, value_of(call, argument).meta());
      case ArgumentKind::integers:
        return list_of(context.integers_of(argument));
      case ArgumentKind::floats:
        return list_of(context.floats_of(argument));
      case ArgumentKind::booleans:
        return list_of(context.booleans_of(argument));
      case ArgumentKind::list: {
        nb::list list;
        for (std::uint32_t at = 0; at < argument.count(); ++at)
          list.append(to_python(call, call.element(argument, at)));
        return list;
      }
      default:
        call.cannot_infer("{} is given what has no form in Python", call.op().qualified_name);
    }
  }

  nb::object value_to_python(const ShapeCall& call, const Meta& meta) {
    if (meta.is_tensor()) {
      const TensorMeta& tensor = meta.tensor;
      if (tensor.layout != Layout::strided)
        call.cannot_infer("{} is given a tensor that is not strided", call.op().qualified_name);
      return nb::make_tuple("tensor", std::string(full_name(tensor.dtype)),
                            numbers(call, tensor.sizes), numbers(call, tensor.strides),
                            number(call, tensor.storage_offset),
                            call.context().device_text(tensor.device));
    }
    if (meta.kind != ValueKind::sym_int || !meta.has_expression)
      call.cannot_infer("{} is given a value that is not known", call.op().qualified_name);
    return nb::make_tuple("number", number(call, meta.expression));
  }

  static SymExpr expression(const ShapeCall& call, nb::handle object) {
    if (nb::isinstance<nb::str>(object))
      return call.env().symbols().parse(nb::cast<std::string>(object));
    return nb::cast<std::int64_t>(object);
  }

  static DimVector expressions(const ShapeCall& call, nb::handle list) {
    DimVector values;
    for (const nb::handle item : list) values.push_back(expression(call, item));
    return values;
  }

  static MetaId from_python(const ShapeCall& call, nb::handle result) {
    Context& context = call.context();
    if (result.is_none()) return context.plain_meta(ValueKind::none);
    if (!nb::isinstance<nb::tuple>(result))
      return context.sym_meta(ValueKind::sym_int, expression(call, result));
    const auto parts = nb::cast<nb::tuple>(result);
    const auto dtype = scalar_type_from_name(nb::cast<std::string>(parts[0]));
    if (!dtype) call.cannot_infer("it yields a dtype that is not known");
    FakeTensor tensor;
    tensor.dtype = *dtype;
    tensor.sizes = expressions(call, parts[1]);
    tensor.strides = expressions(call, parts[2]);
    tensor.storage_offset = expression(call, parts[3]);
    tensor.device = {context.device_type(nb::cast<std::string>(parts[4])),
                     nb::cast<std::int16_t>(parts[5])};
    return context.tensor_meta(tensor);
  }

  nb::object function_;
  nb::dict symbols_;  ///< of the arguments at hand, with their ranges
  std::map<std::vector<std::uint64_t>, std::vector<MetaId>> known_;
};

/// Frees what belongs to Python under its lock.
void free_rule(PythonRule* rule) {
  const nb::gil_scoped_acquire acquire;
  delete rule;  // NOLINT(cppcoreguidelines-owning-memory): the deleter of a shared pointer
}

}  // namespace

void add_python_shape_rule(Context& context, const std::string& op, nb::object function) {
  const OpId id = context.ops().find(op);
  if (!id.is_valid())
    throw Error(
        fmt::format("the program does not know the schema of operator {}", quote(op)),
        "give it when the program is read: winze.load(path, ops=[FILE]), with a line such as "
        "mylib::scale(Tensor x, float by) -> Tensor");
  const std::shared_ptr<PythonRule> rule(new PythonRule(std::move(function)), free_rule);
  ShapeRules::of(context).add(id, [rule](ShapeCall& call) { rule->run(call); });
}

}  // namespace winze
