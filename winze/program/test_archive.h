// SPDX-License-Identifier: Apache-2.0
// Archives made in memory, for the tests of this component.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "winze/program/pt2_reader.h"
#include "winze/support/byte_sink.h"
#include "winze/support/error_of.h"
#include "winze/support/zip_writer.h"

namespace winze::test {

using Records = std::vector<std::pair<std::string, std::string>>;

inline std::string make_zip(const Records& records) {
  std::string bytes;
  StringSink sink(bytes);
  ZipWriter zip(sink);
  for (const auto& [name, content] : records) zip.add(name, content);
  zip.finish();
  return bytes;
}

/// The meta of a float tensor of two elements.
inline constexpr std::string_view f32_2 =
    R"({"dtype": 7, "sizes": [{"as_int": 2}], "requires_grad": false, "device": {"type": "cpu", "index": null}, )"
    R"("strides": [{"as_int": 1}], "storage_offset": {"as_int": 0}, "layout": 7})";

/// The parts of a program's JSON that tests change: by default `y = relu(w) + x`.
struct ProgramText {
  std::string inputs = R"([{"as_tensor": {"name": "p_w"}}, {"as_tensor": {"name": "x"}}])";
  std::string outputs = R"([{"as_tensor": {"name": "add"}}])";
  std::string nodes =
      R"([{"target": "torch.ops.aten.relu.default", "inputs": [{"name": "self", "arg": {"as_tensor": {"name": "p_w"}}, "kind": 1}], )"
      R"("outputs": [{"as_tensor": {"name": "relu"}}], "metadata": {"stack_trace": "File \"m.py\", line 3, in forward\n    relu of w"}, )"
      R"("is_hop_single_tensor_return": null, "name": "relu"}, )"
      R"({"target": "torch.ops.aten.add.Tensor", "inputs": [{"name": "self", "arg": {"as_tensor": {"name": "relu"}}, "kind": 1}, )"
      R"({"name": "other", "arg": {"as_tensor": {"name": "x"}}, "kind": 1}], "outputs": [{"as_tensor": {"name": "add"}}], )"
      R"("metadata": {}, "is_hop_single_tensor_return": null, "name": "add"}])";
  std::string tensor_values;  ///< empty: every name in `tensors` is a float tensor of two elements
  std::vector<std::string> tensors = {"p_w", "x", "relu", "add"};
  std::string sym_int_values = "{}";
  std::string graph_rest;  ///< further members of the graph, with a comma before
  std::string input_specs =
      R"([{"parameter": {"arg": {"name": "p_w"}, "parameter_name": "w"}}, {"user_input": {"arg": {"as_tensor": {"name": "x"}}}}])";
  std::string output_specs = R"([{"user_output": {"arg": {"as_tensor": {"name": "add"}}}}])";
  std::string module_call_graph =
      R"([{"fqn": "", "signature": {"inputs": [], "outputs": [], "in_spec": "[1, 2]", "out_spec": "[1, 3]", "forward_arg_names": ["x"]}}])";
  std::string range_constraints = "{}";
  std::string schema_version = R"({"major": 8, "minor": 20})";
  std::string torch_version = "2.13.0+cpu";
  std::string verifiers = R"(["ATEN"])";
  std::string rest;  ///< further members of the program, with a comma before

  [[nodiscard]] std::string json() const {
    std::string table = tensor_values;
    if (table.empty()) {
      for (const std::string& name : tensors) {
        table += table.empty() ? "{" : ", ";
        table += "\"" + name + "\": " + std::string(f32_2);
      }
      table += table.empty() ? "{}" : "}";
    }
    return R"({"graph_module": {"graph": {"inputs": )" + inputs + R"(, "outputs": )" + outputs +
           R"(, "nodes": )" + nodes + R"(, "tensor_values": )" + table + R"(, "sym_int_values": )" +
           sym_int_values +
           R"(, "sym_bool_values": {}, "is_single_tensor_return": false, "custom_obj_values": {}, "sym_float_values": {})" +
           graph_rest + R"(}, "signature": {"input_specs": )" + input_specs +
           R"(, "output_specs": )" + output_specs + R"(}, "module_call_graph": )" +
           module_call_graph +
           R"(, "metadata": {}, "treespec_namedtuple_fields": {}}, "opset_version": {"aten": 10}, "range_constraints": )" +
           range_constraints + R"(, "schema_version": )" + schema_version + R"(, "verifiers": )" +
           verifiers + R"(, "torch_version": ")" + torch_version + R"(", "guards_code": [])" +
           rest + "}";
  }
};

/// The nodes of a program, the first of which passes an argument of each kind to an unknown
/// operator.
inline std::string node_with_every_argument() {
  constexpr std::string_view positional[] = {
      R"({"as_none": true})",
      R"({"as_tensor": {"name": "p_w"}})",
      R"({"as_tensors": [{"name": "x"}]})",
      R"({"as_int": -5})",
      R"({"as_ints": [1, 2]})",
      R"({"as_float": 1.5})",
      R"({"as_floats": ["-Infinity", "NaN", "Infinity"]})",
      R"({"as_string": "q"})",
      R"({"as_strings": ["s"]})",
      R"({"as_sym_int": {"as_int": 4}})",
      R"({"as_sym_ints": [{"as_int": 3}]})",
      R"({"as_scalar_type": 7})",
      R"({"as_memory_format": 2})",
      R"({"as_layout": 7})",
      R"({"as_device": {"type": "cuda", "index": 1}})",
      R"({"as_bool": true})",
      R"({"as_bools": [true]})",
      R"({"as_sym_bool": {"as_bool": true}})",
      R"({"as_sym_bools": [{"as_bool": false}]})",
      R"({"as_optional_tensors": [{"as_none": true}, {"as_tensor": {"name": "x"}}]})",
  };
  constexpr std::string_view keywords[] = {
      R"({"as_custom_obj": {"name": "o", "class_fqn": "C"}})",
      R"({"as_operator": "torch.ops.aten.relu.default"})",
      R"({"as_sym_float": {"as_float": 0.25}})",
      R"({"as_sym_floats": [{"as_float": 0.5}]})",
      R"({"as_optional_tensor": {"as_tensor": {"name": "x"}}})",
      R"({"as_complex": {"real": 1.0, "imag": -2.0}})",
      R"({"as_nested_tensors": [[{"name": "x"}], []]})",
      R"({"as_int_lists": [[1], [2, 3]]})",
      R"({"as_string_to_argument": {"k": {"as_int": 1}}})",
      R"({"as_float_lists": [[1.5]]})",
  };
  std::string inputs;
  int number = 0;
  const auto add = [&](std::string_view argument, int kind) {
    if (!inputs.empty()) inputs += ", ";
    inputs += R"({"name": "a)" + std::to_string(number++) + R"(", "arg": )" +
              std::string(argument) + R"(, "kind": )" + std::to_string(kind) + "}";
  };
  for (const std::string_view argument : positional) add(argument, 1);
  for (const std::string_view argument : keywords) add(argument, 2);
  return R"([{"target": "torch.ops.mine.any.default", "inputs": [)" + inputs +
         R"(], "outputs": [{"as_tensor": {"name": "relu"}}], "metadata": {}, )"
         R"("is_hop_single_tensor_return": null, "name": "relu"}, )" +
         ProgramText().nodes.substr(ProgramText().nodes.find(R"({"target": "torch.ops.aten.add)"));
}

/// Text with one part replaced; the part has to be there.
inline std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

/// A config that lists `w`, a parameter of two floats, in the record weight_0.
inline std::string weights_config() {
  return R"({"config": {"w": {"path_name": "weight_0", "is_param": true, "use_pickle": false, "tensor_meta": )" +
         std::string(f32_2) + "}}}";
}

/// The records of an archive as torch 2.9 and later write it.
inline Records archive_records(const std::string& program_json) {
  return {{"m/data/weights/weight_0", std::string(8, '\1')},
          {"m/data/weights/model_weights_config.json", weights_config()},
          {"m/data/constants/model_constants_config.json", R"({"config": {}})"},
          {"m/models/model.json", program_json},
          {"m/data/sample_inputs/model.pt", ""},
          {"m/archive_format", "pt2"},
          {"m/archive_version", "0"},
          {"m/.data/version", "6\n"},
          {"m/byteorder", "little"}};
}

inline void set_record(Records& records, std::string_view name, std::string content) {
  for (auto& [known, old] : records) {
    if (known == name) {
      old = std::move(content);
      return;
    }
  }
  records.emplace_back(name, std::move(content));
}

inline ExportedProgram read(Context& context, const Records& records,
                            std::vector<Diagnostic>* warnings = nullptr) {
  return read_pt2(context, Bytes::own(make_zip(records)),
                  {.file_name = "test.pt2", .warnings = warnings});
}

inline ExportedProgram read(Context& context, const ProgramText& text,
                            std::vector<Diagnostic>* warnings = nullptr) {
  return read(context, archive_records(text.json()), warnings);
}

/// What reading says is wrong; empty where nothing is.
inline std::string error_of(const Records& records) {
  Context context;
  return winze::error_of([&] { return read(context, records); });
}

inline std::string error_of(const ProgramText& text) {
  return error_of(archive_records(text.json()));
}

}  // namespace winze::test
