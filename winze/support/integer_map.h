// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <tsl/robin_map.h>
#include <tsl/robin_set.h>

#include "winze/support/hash.h"

namespace winze {

/// Hashes integers that may agree in their low bits: several numbers put together in one, or what a
/// file holds. Under a secret, so that no file can be made whose integers collide.
struct IntegerHash {
  std::size_t operator()(std::uint64_t integer) const {
    return hash_integer(integer ^ process_secret());
  }
};

/// Tables by such integers. The order of their entries differs from run to run. Ids that are
/// counted up need no hash: `tsl::robin_map<std::uint32_t, ...>` takes them as they are.
template <typename Value>
using IntegerMap = tsl::robin_map<std::uint64_t, Value, IntegerHash>;
using IntegerSet = tsl::robin_set<std::uint64_t, IntegerHash>;

}  // namespace winze
