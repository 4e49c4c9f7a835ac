// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "winze/pass/pass_registry.h"

namespace winze {

void register_cleanup_passes(PassRegistry& registry);
void register_shape_passes(PassRegistry& registry);

/// The pipelines `default` and `inference`.
void register_named_pipelines(PassRegistry& registry);

/// All passes and named pipelines that Winze has by itself.
void register_builtin_passes(PassRegistry& registry);
/// A registry with just these.
[[nodiscard]] PassRegistry all_passes();

}  // namespace winze
