// SPDX-License-Identifier: Apache-2.0
#include "winze/torch/torch_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "winze/support/diagnostic.h"

namespace winze {
namespace {

using ::testing::ContainsRegex;

TEST(TorchLibrary, SaysWhatToDoWhereItCannotBeLoaded) {
  // This program does not export Winze's core, so that the library cannot be loaded even where it
  // was built.
  try {
    static_cast<void>(load_torch_library());
    FAIL() << "was loaded";
  } catch (const Error& error) {
    EXPECT_THAT(error.diagnostic().message, ContainsRegex("cannot load|cannot run programs"));
    EXPECT_THAT(error.diagnostic().hint, ContainsRegex("ENABLE_EXPORTS|WINZE_TORCH=ON"));
  }
}

}  // namespace
}  // namespace winze
