// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace winze {

class OpRegistry;

/// What to do about a name that the registry does not know: `did you mean aten.relu.default?`, or
/// an empty string. Names without a namespace, as `relu` and `torch.relu`, are looked for in aten.
[[nodiscard]] std::string suggest_ops(const OpRegistry& registry, std::string_view name);

}  // namespace winze
