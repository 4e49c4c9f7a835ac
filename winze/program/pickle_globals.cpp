// SPDX-License-Identifier: Apache-2.0
#include "winze/program/pickle_globals.h"

#include <algorithm>

namespace winze {
namespace {

constexpr PickleCall pickle_calls[] = {
    {"collections.OrderedDict", PickleKind::dictionary, 0, 0},
    {"torch._utils._rebuild_tensor_v2", PickleKind::tensor, 6, 7},
    {"torch._utils._rebuild_tensor_v3", PickleKind::tensor, 7, 8},
    {pickle_rebuild_from_type, PickleKind::tensor, 4, 4},
    {"torch._utils._rebuild_parameter", PickleKind::parameter, 3, 3},
    {"torch._utils._rebuild_parameter_with_state", PickleKind::parameter, 4, 4},
    {"torch.device", PickleKind::device, 1, 2},
    {"torch.Size", PickleKind::tuple, 1, 1},
    {"builtins.complex", PickleKind::complex, 2, 2},
    {"__builtin__.complex", PickleKind::complex, 2, 2},
};

/// Globals that may be referred to but not called.
constexpr std::string_view global_names[] = {
    pickle_tensor_class,
    "torch.FloatStorage",
    "torch.DoubleStorage",
    "torch.HalfStorage",
    "torch.BFloat16Storage",
    "torch.LongStorage",
    "torch.IntStorage",
    "torch.ShortStorage",
    "torch.CharStorage",
    "torch.ByteStorage",
    "torch.BoolStorage",
    "torch.ComplexDoubleStorage",
    "torch.ComplexFloatStorage",
    "torch.storage.UntypedStorage",
    "torch.float16",
    "torch.float32",
    "torch.float64",
    "torch.bfloat16",
    "torch.int8",
    "torch.int16",
    "torch.int32",
    "torch.int64",
    "torch.uint8",
    "torch.uint16",
    "torch.uint32",
    "torch.uint64",
    "torch.bool",
    "torch.complex32",
    "torch.complex64",
    "torch.complex128",
    "torch.float8_e4m3fn",
    "torch.float8_e5m2",
    "torch.float8_e4m3fnuz",
    "torch.float8_e5m2fnuz",
    "torch.float8_e8m0fnu",
};

}  // namespace

std::optional<std::string_view> find_pickle_global(std::string_view module, std::string_view name) {
  const auto is_wanted = [&](std::string_view known) {
    return known.size() == module.size() + 1 + name.size() && known.starts_with(module) &&
           known[module.size()] == '.' && known.ends_with(name);
  };
  const auto* const call = std::ranges::find_if(pickle_calls, is_wanted, &PickleCall::name);
  if (call != std::end(pickle_calls)) return call->name;
  const auto* const known = std::ranges::find_if(global_names, is_wanted);
  return known == std::end(global_names) ? std::nullopt : std::optional(*known);
}

const PickleCall* find_pickle_call(std::string_view name) {
  const auto* const call = std::ranges::find(pickle_calls, name, &PickleCall::name);
  return call == std::end(pickle_calls) ? nullptr : call;
}

}  // namespace winze
