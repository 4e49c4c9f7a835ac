// SPDX-License-Identifier: Apache-2.0
#include "winze/support/digest.h"

#include <gtest/gtest.h>

#include <string>

namespace winze {
namespace {

TEST(Digest, IsXxh3With128Bits) {
  EXPECT_EQ(digest(""),
            "99aa06d3014798d86001c324468d497f");  // the published test value for no input
  EXPECT_EQ(digest("a").size(), 32U);
  EXPECT_NE(digest("a"), digest("b"));
}

TEST(Digest, IsTheSameInPieces) {
  const std::string text(10'000, 'x');
  Digester digester;
  digester.update(std::string_view(text).substr(0, 1));
  digester.update(std::string_view(text).substr(1, 4000));
  digester.update("");
  digester.update(std::string_view(text).substr(4001));
  EXPECT_EQ(digester.digest(), digest(text));
}

}  // namespace
}  // namespace winze
