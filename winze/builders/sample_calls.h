// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "winze/ir/graph.h"

namespace winze {

/// A call by a builder with every argument given, and the operator that it has to be of.
struct SampleCall {
  std::string_view op;
  void (*build)(Graph& graph, Value tensor);
};

/// One for each builder that there is; generated with them.
[[nodiscard]] std::span<const SampleCall> sample_calls();

}  // namespace winze
