// SPDX-License-Identifier: Apache-2.0
#include "winze/program/argument_writer.h"

#include <algorithm>

#include <fmt/format.h>

#include "winze/program/argument_reader.h"
#include "winze/schema/op.h"

namespace winze {
namespace {

[[noreturn]] void fail_at(Node node, std::string message, std::string hint = {}) {
  Diagnostic diagnostic;
  diagnostic.message = std::move(message);
  diagnostic.node = node.str();
  if (const std::optional<SourceLine> line = node.graph().context().user_line(node.source())) {
    diagnostic.source = line->str();
  }
  diagnostic.hint = std::move(hint);
  throw Error(std::move(diagnostic));
}

}  // namespace

void ArgumentWriter::begin(ArgumentArm arm) {
  if (since_minor(arm) > minor_) {
    throw Error(
        fmt::format(
            "an argument of kind {} is not known to the PyTorch release that is written for "
            "(schema {}.{})",
            name_of(arm), schema_major, minor_),
        "write for a later release");
  }
  writer_.begin_object();
  writer_.plain_key(name_of(arm));
}

void ArgumentWriter::write(Node node, const Argument& argument, const Type* type) {
  switch (argument.kind()) {
    case ArgumentKind::value:
      return write_value(value_of(argument));
    case ArgumentKind::list:
      return write_list(node, argument, type);
    case ArgumentKind::integers:
    case ArgumentKind::floats:
    case ArgumentKind::booleans:
    case ArgumentKind::strings:
      return write_constant_list(argument);
    case ArgumentKind::graph:
      begin(ArgumentArm::as_graph);
      write_graph_(graph_.subgraph(argument.graph_id()));
      return end();
    case ArgumentKind::default_value:
    case ArgumentKind::input_spec:
    case ArgumentKind::output_spec:
      fail_at(node, "an argument is missing");
    default:
      return write_constant(argument);
  }
}

void ArgumentWriter::write_value(Value value) {
  const std::string_view name = names_.of(value);
  const Meta& meta = value.meta();
  const auto named = [&](ArgumentArm arm, std::string_view key) {
    begin(arm);
    writer_.begin_object();
    writer_.plain_key(key);
    writer_.string(name);
    if (arm == ArgumentArm::as_custom_obj) {
      writer_.plain_key("class_fqn");
      writer_.string(context_.text(meta.class_name));
    }
    writer_.end_object();
    end();
  };
  switch (meta.kind) {
    case ValueKind::sym_int:
      return named(ArgumentArm::as_sym_int, "as_name");
    case ValueKind::sym_float:
      return named(ArgumentArm::as_sym_float, "as_name");
    case ValueKind::sym_bool:
      return named(ArgumentArm::as_sym_bool, "as_name");
    case ValueKind::custom_object:
      return named(ArgumentArm::as_custom_obj, "name");
    default:
      return named(ArgumentArm::as_tensor, "name");
  }
}

void ArgumentWriter::write_constant(const Argument& argument) {
  switch (argument.kind()) {
    case ArgumentKind::none:
      begin(ArgumentArm::as_none);
      writer_.boolean(true);
      break;
    case ArgumentKind::integer:
      begin(ArgumentArm::as_int);
      writer_.integer(argument.integer());
      break;
    case ArgumentKind::floating:
      begin(ArgumentArm::as_float);
      writer_.real(argument.floating());
      break;
    case ArgumentKind::boolean:
      begin(ArgumentArm::as_bool);
      writer_.boolean(argument.boolean());
      break;
    case ArgumentKind::string:
      begin(ArgumentArm::as_string);
      writer_.string(context_.text(argument.string_id()));
      break;
    case ArgumentKind::complex: {
      const std::complex<double> value = context_.complex_of(argument);
      begin(ArgumentArm::as_complex);
      writer_.begin_object();
      writer_.plain_key("real");
      writer_.real(value.real());
      writer_.plain_key("imag");
      writer_.real(value.imag());
      writer_.end_object();
      break;
    }
    case ArgumentKind::dtype:
      begin(ArgumentArm::as_scalar_type);
      writer_.integer(metas_.dtype_number(argument.dtype()));
      break;
    case ArgumentKind::layout:
      begin(ArgumentArm::as_layout);
      writer_.integer(schema_number(argument.layout()));
      break;
    case ArgumentKind::memory_format:
      begin(ArgumentArm::as_memory_format);
      writer_.integer(schema_number(argument.memory_format()));
      break;
    case ArgumentKind::device:
      begin(ArgumentArm::as_device);
      metas_.write_device(writer_, argument.device());
      break;
    case ArgumentKind::op:
      begin(ArgumentArm::as_operator);
      writer_.string(context_.ops().get(argument.op()).target());
      break;
    default: {
      const Context::CustomObject object = context_.custom_object_of(argument);
      if (context_.text(object.class_name) == dictionary_class) {
        begin(ArgumentArm::as_string_to_argument);
        writer_.raw(context_.text(object.name));
        break;
      }
      begin(ArgumentArm::as_custom_obj);
      writer_.begin_object();
      writer_.plain_key("name");
      writer_.string(context_.text(object.name));
      writer_.plain_key("class_fqn");
      writer_.string(context_.text(object.class_name));
      writer_.end_object();
      break;
    }
  }
  end();
}

void ArgumentWriter::write_constant_list(const Argument& argument) {
  switch (argument.kind()) {
    case ArgumentKind::integers:
      begin(ArgumentArm::as_ints);
      writer_.begin_array();
      for (const std::int64_t element : context_.integers_of(argument)) writer_.integer(element);
      break;
    case ArgumentKind::floats:
      begin(ArgumentArm::as_floats);
      writer_.begin_array();
      for (const double element : context_.floats_of(argument)) writer_.real(element);
      break;
    case ArgumentKind::booleans:
      begin(ArgumentArm::as_bools);
      writer_.begin_array();
      for (const bool element : context_.booleans_of(argument)) writer_.boolean(element);
      break;
    default:
      begin(ArgumentArm::as_strings);
      writer_.begin_array();
      for (const StringId element : context_.strings_of(argument))
        writer_.string(context_.text(element));
      break;
  }
  writer_.end_array();
  end();
}

void ArgumentWriter::write_empty_list(const Type* type) {
  ArgumentArm arm = ArgumentArm::as_tensors;
  if (type != nullptr) {
    switch (type->base_kind()) {
      case TypeKind::bool_:
      case TypeKind::sym_bool:
        arm = ArgumentArm::as_bools;
        break;
      case TypeKind::int_:
      case TypeKind::sym_int:
        arm = ArgumentArm::as_ints;
        break;
      case TypeKind::float_:
      case TypeKind::sym_float:
        arm = ArgumentArm::as_floats;
        break;
      case TypeKind::str:
        arm = ArgumentArm::as_strings;
        break;
      default:
        break;
    }
  }
  begin(arm);
  writer_.begin_array();
  writer_.end_array();
  end();
}

void ArgumentWriter::write_list(Node node, const Argument& argument, const Type* type) {
  if (argument.count() == 0) return write_empty_list(type);
  std::vector<Argument> elements;
  elements.reserve(argument.count());
  for (std::uint32_t index = 0; index < argument.count(); ++index)
    elements.push_back(node.element(argument, index));
  const ArgumentArm arm = list_arm(node, elements);
  switch (arm) {
    case ArgumentArm::as_nested_tensors:
    case ArgumentArm::as_int_lists:
    case ArgumentArm::as_float_lists:
      return write_nested_list(node, arm, elements);
    default:
      return write_list_of(arm, elements);
  }
}

/// The first arm that can hold the elements, in the order in which export tries them.
ArgumentArm ArgumentWriter::list_arm(Node node, const std::vector<Argument>& elements) const {
  const auto all = [&](auto holds) { return std::ranges::all_of(elements, holds); };
  const auto all_kind = [&](ArgumentKind kind) {
    return all([&](const Argument& a) { return a.kind() == kind; });
  };
  const auto all_symbolic = [&](ArgumentKind constant, ValueKind symbolic) {
    return all([&](const Argument& a) {
      return a.kind() == constant || (a.is_value() && value_of(a).meta().kind == symbolic);
    });
  };
  const auto is_list_of = [&](const Argument& list, ArgumentKind constant, bool of_values) {
    if (!of_values && list.kind() == constant) return true;
    if (!list.is_list()) return false;
    for (std::uint32_t index = 0; index < list.count(); ++index) {
      if (!of_values || !node.element(list, index).is_value()) return false;
    }
    return true;
  };
  if (all_kind(ArgumentKind::boolean)) return ArgumentArm::as_bools;
  if (all_kind(ArgumentKind::integer)) return ArgumentArm::as_ints;
  if (all_kind(ArgumentKind::floating)) return ArgumentArm::as_floats;
  if (all_kind(ArgumentKind::string)) return ArgumentArm::as_strings;
  if (all_symbolic(ArgumentKind::integer, ValueKind::sym_int)) return ArgumentArm::as_sym_ints;
  if (all_symbolic(ArgumentKind::floating, ValueKind::sym_float)) return ArgumentArm::as_sym_floats;
  if (all_symbolic(ArgumentKind::boolean, ValueKind::sym_bool)) return ArgumentArm::as_sym_bools;
  if (all([](const Argument& a) { return a.is_value(); })) return ArgumentArm::as_tensors;
  if (all([&](const Argument& a) { return is_list_of(a, ArgumentKind::none, true); })) {
    return ArgumentArm::as_nested_tensors;
  }
  if (all([](const Argument& a) { return a.is_value() || a.is_none(); }))
    return ArgumentArm::as_optional_tensors;
  if (all([&](const Argument& a) { return is_list_of(a, ArgumentKind::integers, false); }))
    return ArgumentArm::as_int_lists;
  if (all([&](const Argument& a) { return is_list_of(a, ArgumentKind::floats, false); }))
    return ArgumentArm::as_float_lists;
  fail_at(node, "a list mixes kinds of arguments that a .pt2 file cannot hold in one list");
}

void ArgumentWriter::write_tensor_reference(const Argument& value) {
  writer_.begin_object();
  writer_.plain_key("name");
  writer_.string(names_.of(value_of(value)));
  writer_.end_object();
}

void ArgumentWriter::write_symbolic(const Argument& element) {
  writer_.begin_object();
  switch (element.kind()) {
    case ArgumentKind::integer:
      writer_.plain_key("as_int");
      writer_.integer(element.integer());
      break;
    case ArgumentKind::floating:
      writer_.plain_key("as_float");
      writer_.real(element.floating());
      break;
    case ArgumentKind::boolean:
      writer_.plain_key("as_bool");
      writer_.boolean(element.boolean());
      break;
    default:
      writer_.plain_key("as_name");
      writer_.string(names_.of(value_of(element)));
      break;
  }
  writer_.end_object();
}

void ArgumentWriter::write_list_of(ArgumentArm arm, const std::vector<Argument>& elements) {
  begin(arm);
  writer_.begin_array();
  for (const Argument& element : elements) {
    switch (arm) {
      case ArgumentArm::as_bools:
        writer_.boolean(element.boolean());
        break;
      case ArgumentArm::as_ints:
        writer_.integer(element.integer());
        break;
      case ArgumentArm::as_floats:
        writer_.real(element.floating());
        break;
      case ArgumentArm::as_strings:
        writer_.string(context_.text(element.string_id()));
        break;
      case ArgumentArm::as_tensors:
        write_tensor_reference(element);
        break;
      case ArgumentArm::as_optional_tensors:
        writer_.begin_object();
        writer_.plain_key(element.is_none() ? "as_none" : "as_tensor");
        if (element.is_none()) {
          writer_.boolean(true);
        } else {
          write_tensor_reference(element);
        }
        writer_.end_object();
        break;
      default:
        write_symbolic(element);
        break;
    }
  }
  writer_.end_array();
  end();
}

void ArgumentWriter::write_nested_list(Node node, ArgumentArm arm,
                                       const std::vector<Argument>& elements) {
  begin(arm);
  writer_.begin_array();
  for (const Argument& list : elements) {
    writer_.begin_array();
    if (list.kind() == ArgumentKind::integers) {
      for (const std::int64_t element : context_.integers_of(list)) writer_.integer(element);
    } else if (list.kind() == ArgumentKind::floats) {
      for (const double element : context_.floats_of(list)) writer_.real(element);
    } else {
      for (std::uint32_t index = 0; index < list.count(); ++index)
        write_tensor_reference(node.element(list, index));
    }
    writer_.end_array();
  }
  writer_.end_array();
  end();
}

}  // namespace winze
