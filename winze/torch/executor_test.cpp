// SPDX-License-Identifier: Apache-2.0
#include "winze/torch/executor.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "winze/program/program_text.h"
#include "winze/support/diagnostic.h"

namespace winze {
namespace {

using c10::IValue;
using testing::HasSubstr;

struct Program {
  explicit Program(std::string_view text) : program(parse_program(context, text)) {}
  Context context;
  ExportedProgram program;
};

TEST(Executor, AddsWithAlpha) {
  Program p(R"(
program "model"
graph forward(%x: input f32[2, 3]) {
  %y = aten.add.Tensor(%x, 1, alpha=2) : f32[2, 3]
  return output %y
}
)");
  Executor executor(p.program);
  const ExecutorResult result = executor.run({at::ones({2, 3})});
  ASSERT_EQ(result.outputs.size(), 1U);
  EXPECT_TRUE(result.outputs[0].toTensor().equal(at::full({2, 3}, 3.0)));
}

}  // namespace
}  // namespace winze
