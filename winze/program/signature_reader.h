// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "winze/ir/signature.h"
#include "winze/program/argument_reader.h"
#include "winze/program/read_session.h"

namespace winze {

/// An input of a graph: a named value, or a constant that the export fixed.
struct GraphInput {
  std::string_view name;  ///< empty for a constant
  ValueKind kind = ValueKind::constant;
  Argument constant;  ///< for a constant
};

/// Reads an Argument where an input is declared: `as_tensor`, `as_sym_…`, `as_custom_obj`, or a
/// plain constant.
[[nodiscard]] GraphInput read_graph_input(ReadSession& session, ArgumentReader& reader,
                                          JsonValue argument);

/// Reads an InputSpec for the input `input` and checks that it speaks of it. A constant input gets
/// its name from it.
[[nodiscard]] InputSpec read_input_spec(ReadSession& session, ArgumentReader& reader,
                                        JsonValue spec, GraphInput& input);

/// Reads an OutputSpec for the returned `output` and checks that it speaks of it.
[[nodiscard]] OutputSpec read_output_spec(ReadSession& session, ArgumentReader& reader,
                                          const ValueScope& scope, JsonValue spec,
                                          const Argument& output);

}  // namespace winze
