// SPDX-License-Identifier: Apache-2.0
#include "winze/schema/op_suggestions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "winze/schema/op_registry.h"

namespace winze {
namespace {

using ::testing::HasSubstr;

TEST(OpSuggestions, NameTheNamespaceThatIsMissing) {
  OpRegistry registry;
  for (const char* name : {"relu", "torch.relu", "relu.default"})
    EXPECT_THAT(suggest_ops(registry, name), HasSubstr("did you mean aten.relu")) << name;
  EXPECT_THAT(suggest_ops(registry, "add"),
              HasSubstr("did you mean aten.add? Operators are named with their namespace"));
  EXPECT_EQ(suggest_ops(registry, "relu.nothing_like_this"), "");
}

TEST(OpSuggestions, NameWhatIsNear) {
  OpRegistry registry;
  EXPECT_THAT(suggest_ops(registry, "aten.rellu"), HasSubstr("did you mean aten.relu.default or "));
  EXPECT_THAT(suggest_ops(registry, "aten::ad.Tensor"), HasSubstr("aten.add.Tensor"));
}

}  // namespace
}  // namespace winze
