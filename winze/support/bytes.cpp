// SPDX-License-Identifier: Apache-2.0
#include "winze/support/bytes.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <istream>
#include <utility>

#include "winze/support/diagnostic.h"

namespace winze {
namespace {

constexpr std::size_t read_step = std::size_t{1} << 16U;

[[noreturn]] void fail_reading(const std::string& name, std::string message,
                               std::string hint = {}) {
  Diagnostic diagnostic;
  diagnostic.message = std::move(message);
  diagnostic.where.file = name;
  diagnostic.hint = std::move(hint);
  throw Error(std::move(diagnostic));
}

[[noreturn]] void fail_with_errno(const std::string& name, int error_number) {
  fail_reading(name, fmt::format("cannot read: {}", std::strerror(error_number)));
}

[[noreturn]] void fail_too_long(const std::string& name, std::size_t limit) {
  fail_reading(name, fmt::format("holds more than the {} bytes that are read", limit),
               "save it as a file, which is mapped and not read");
}

/// Reads to the end by `read_some(destination, size)`, which returns how much it read, 0 at the
/// end.
template <typename ReadSome>
Bytes read_to_end(const std::string& name, std::size_t limit, ReadSome read_some) {
  std::string text;
  while (true) {
    const std::size_t used = text.size();
    text.resize(std::max({text.capacity(), used + read_step}));
    const std::size_t count = read_some(text.data() + used, text.size() - used);
    text.resize(used + count);
    if (text.size() > limit) fail_too_long(name, limit);
    if (count == 0) break;
  }
  text.shrink_to_fit();
  return Bytes::own(std::move(text));
}

Bytes read_descriptor(int fd, const std::string& name, std::size_t limit) {
  return read_to_end(name, limit, [&](char* to, std::size_t size) {
    while (true) {
      const ssize_t count = ::read(fd, to, size);
      if (count >= 0) return static_cast<std::size_t>(count);
      if (errno != EINTR) fail_with_errno(name, errno);
    }
  });
}

}  // namespace

Bytes Bytes::own(std::string text) {
  auto owner = std::make_shared<const std::string>(std::move(text));
  const void* data = owner->data();
  const std::size_t size = owner->size();
  return share(std::move(owner), data, size);
}

Bytes Bytes::copy(std::string_view text) {
  return own(std::string(text));
}

Bytes Bytes::borrow(std::string_view text) {
  return share(nullptr, text.data(), text.size());
}

Bytes Bytes::share(std::shared_ptr<const void> owner, const void* data, std::size_t size) {
  Bytes bytes;
  bytes.backing_ = std::make_shared<const Backing>(std::move(owner), -1, nullptr);
  bytes.data_ = static_cast<const std::byte*>(data);
  bytes.size_ = size;
  return bytes;
}

Bytes::Backing::~Backing() {
  memory.reset();
  if (fd >= 0) ::close(fd);
}

Bytes Bytes::slice(std::size_t offset, std::size_t size) const {
  WINZE_CHECK(offset <= size_ && size <= size_ - offset, "slice {}+{} of {} bytes", offset, size,
              size_);
  Bytes part = *this;
  part.data_ += offset;
  part.size_ = size;
  return part;
}

void Bytes::map_pages() const {
  if (backing_ == nullptr || backing_->begin == nullptr || empty()) return;
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  // A mapping begins at a page, so the page of the first byte belongs to it.
  const std::size_t before = reinterpret_cast<std::uintptr_t>(data_) % page;
  // Where it fails, whoever reads the bytes will see why.
  static_cast<void>(
      ::madvise(const_cast<std::byte*>(data_) - before, size_ + before, MADV_POPULATE_READ));
}

void Bytes::copy_to(std::span<char> to, std::size_t offset) const {
  const bool inside = offset <= size_ && to.size() <= size_ - offset;
  WINZE_CHECK(inside, "copy {}+{} of {} bytes", offset, to.size(), size_);
  if (to.empty()) return;
  if (backing_->fd < 0) {
    std::memcpy(to.data(), data_ + offset, to.size());
    return;
  }
  auto at = static_cast<off_t>(data_ + offset - backing_->begin);
  while (!to.empty()) {
    const ssize_t count = ::pread(backing_->fd, to.data(), to.size(), at);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("cannot read a mapped file: {}", std::strerror(errno));
    if (count == 0) fail("a mapped file was shortened while it was read");
    to = to.subspan(static_cast<std::size_t>(count));
    at += count;
  }
}

Bytes map_file(const std::string& path, std::size_t limit) {
  if (path.empty()) throw Error("cannot read: the name of the file is empty");
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) fail_with_errno(path, errno);
  const auto backing = std::make_shared<Bytes::Backing>(nullptr, fd, nullptr);  // closes the file
  struct stat status{};
  if (::fstat(fd, &status) != 0) fail_with_errno(path, errno);
  if (S_ISDIR(status.st_mode)) fail_reading(path, "cannot read: it is a folder");
  const auto size = static_cast<std::size_t>(status.st_size);
  // Files of /proc and the like say that they have no bytes; they are read instead.
  if (!S_ISREG(status.st_mode) || size == 0) return read_descriptor(fd, path, limit);
  void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (data == MAP_FAILED) return read_descriptor(fd, path, limit);
  backing->memory.reset(data, [size](void* mapped) { ::munmap(mapped, size); });
  backing->begin = static_cast<const std::byte*>(data);
  Bytes bytes;
  bytes.backing_ = backing;
  bytes.data_ = backing->begin;
  bytes.size_ = size;
  return bytes;
}

Bytes read_stream(std::FILE* stream, const std::string& name, std::size_t limit) {
  return read_to_end(name, limit, [&](char* to, std::size_t size) {
    const std::size_t count = std::fread(to, 1, size, stream);
    if (count < size && std::ferror(stream) != 0) fail_with_errno(name, errno);
    return count;
  });
}

Bytes read_stream(std::istream& stream, const std::string& name, std::size_t limit) {
  return read_to_end(name, limit, [&](char* to, std::size_t size) {
    stream.read(to, static_cast<std::streamsize>(size));
    if (stream.bad()) fail_reading(name, "cannot read: the stream failed");
    return static_cast<std::size_t>(stream.gcount());
  });
}

}  // namespace winze
