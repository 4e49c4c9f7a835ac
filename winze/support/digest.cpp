// SPDX-License-Identifier: Apache-2.0
#include "winze/support/digest.h"

#include <fmt/format.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace winze {
namespace {

std::string hex(XXH128_hash_t hash) {
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace

struct Digester::State {
  XXH3_state_t xxh;
};

std::string digest(std::string_view bytes) {
  return hex(XXH3_128bits(bytes.data(), bytes.size()));
}

Digester::Digester() : state_(std::make_unique<State>()) {
  XXH3_128bits_reset(&state_->xxh);
}

Digester::~Digester() = default;

void Digester::update(std::string_view bytes) {
  XXH3_128bits_update(&state_->xxh, bytes.data(), bytes.size());
}

std::string Digester::digest() const {
  return hex(XXH3_128bits_digest(&state_->xxh));
}

}  // namespace winze
