// SPDX-License-Identifier: Apache-2.0
#include "winze/support/record_array.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <new>

namespace winze::record_memory {
namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20U;
/// Smaller blocks come from malloc, where sanitizers watch them and no address space is lost.
constexpr std::size_t mapped_from = 2 * huge_page;

bool is_mapped(std::size_t bytes) {
  return bytes >= mapped_from;
}

/// Address space for `bytes`, beginning where a huge page may begin; nothing backs it yet.
void* reserve(std::size_t bytes) {
  if (bytes > SIZE_MAX - huge_page) throw std::bad_alloc();
  void* found = ::mmap(nullptr, bytes + huge_page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (found == MAP_FAILED) throw std::bad_alloc();
  const auto begin = reinterpret_cast<std::uintptr_t>(found);
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto round_up = [](std::uintptr_t address, std::uintptr_t unit) {
    return (address + unit - 1) / unit * unit;
  };
  const std::uintptr_t first = round_up(begin, huge_page);
  const std::uintptr_t last = round_up(first + bytes, page);
  const std::uintptr_t end = round_up(begin + bytes + huge_page, page);
  const auto give_back = [](std::uintptr_t from, std::uintptr_t to) {
    if (from < to) ::munmap(reinterpret_cast<void*>(from), to - from);
  };
  give_back(begin, first);
  give_back(last, end);
  return reinterpret_cast<void*>(first);
}

void* map(std::size_t bytes) {
  void* const block = reserve(bytes);
  if (::mprotect(block, bytes, PROT_READ | PROT_WRITE) != 0) {
    ::munmap(block, bytes);
    throw std::bad_alloc();
  }
  // Where there are no huge pages the block has small ones.
  static_cast<void>(::madvise(block, bytes, MADV_HUGEPAGE));
  return block;
}

/// Both blocks begin where a huge page may, so that whole huge pages move.
void* remap(void* block, std::size_t old_bytes, std::size_t new_bytes) {
  void* const place = reserve(new_bytes);
  void* const moved = ::mremap(block, old_bytes, new_bytes, MREMAP_MAYMOVE | MREMAP_FIXED, place);
  if (moved == MAP_FAILED) {
    ::munmap(place, new_bytes);
    throw std::bad_alloc();
  }
  return moved;
}

}  // namespace

void* resize(void* block, std::size_t old_bytes, std::size_t new_bytes) {
  if (is_mapped(old_bytes) && is_mapped(new_bytes)) return remap(block, old_bytes, new_bytes);
  if (is_mapped(new_bytes)) {
    void* const grown = map(new_bytes);
    if (old_bytes != 0) std::memcpy(grown, block, old_bytes);
    release(block, old_bytes);
    return grown;
  }
  void* const grown = std::realloc(block, new_bytes);
  if (grown == nullptr && new_bytes != 0) throw std::bad_alloc();
  return grown;
}

void* allocate_zeroed(std::size_t bytes) {
  if (bytes == 0) return nullptr;
  if (is_mapped(bytes)) return map(bytes);
  void* const block = std::calloc(bytes, 1);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

void release(void* block, std::size_t bytes) noexcept {
  if (is_mapped(bytes)) {
    ::munmap(block, bytes);
  } else {
    std::free(block);
  }
}

}  // namespace winze::record_memory
