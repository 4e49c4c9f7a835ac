// SPDX-License-Identifier: Apache-2.0
#include "winze/ir/signature.h"

#include <array>

namespace winze {
namespace {

constexpr std::array<std::string_view, 7> input_kind_names = {
    "user_input", "parameter",      "buffer", "tensor_constant",
    "custom_obj", "constant_input", "token"};
constexpr std::array<std::string_view, 8> output_kind_names = {
    "user_output",           "loss_output",
    "buffer_mutation",       "parameter_mutation",
    "gradient_to_parameter", "gradient_to_user_input",
    "user_input_mutation",   "token"};

}  // namespace

std::string_view name_of(InputKind kind) {
  return input_kind_names[static_cast<std::size_t>(kind)];
}
std::string_view name_of(OutputKind kind) {
  return output_kind_names[static_cast<std::size_t>(kind)];
}

}  // namespace winze
