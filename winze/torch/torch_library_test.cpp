// SPDX-License-Identifier: Apache-2.0
#include "winze/torch/torch_library.h"

#include <gtest/gtest.h>

#include "winze/support/diagnostic.h"

namespace winze {
namespace {

TEST(TorchLibrary, SaysWhatIsMissingWhereItIsNotBesideTheProgram) {
  try {
    // The test program stands in build/bin, where a complete build has the library in ../lib.
    EXPECT_NE(load_torch_library().torch_version, nullptr);
  } catch (const Error& error) {
    EXPECT_FALSE(error.diagnostic().message.empty());
    EXPECT_FALSE(error.diagnostic().hint.empty());
  }
}

}  // namespace
}  // namespace winze
