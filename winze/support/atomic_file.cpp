// SPDX-License-Identifier: Apache-2.0
#include "winze/support/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdio>
#include <cstring>
#include <optional>
#include <system_error>
#include <utility>

#include "winze/support/diagnostic.h"

namespace winze {
namespace {

constexpr std::size_t buffer_size = std::size_t{1} << 18U;
constexpr int max_links = 40;  // what Linux follows
constexpr int max_names = 1000;

/// The descriptor that a path such as `-` or `/dev/stdout` stands for. Such paths are links to
/// whatever the descriptor is open on; following them would replace that file behind the one who
/// opened it.
std::optional<int> descriptor_of(const std::string& path) {
  if (path == "-" || path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view prefix : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(prefix)) continue;
    int descriptor = -1;
    const char* const last = path.data() + path.size();
    const auto [end, error] = std::from_chars(path.data() + prefix.size(), last, descriptor);
    if (error == std::errc() && end == last && descriptor >= 0) return descriptor;
  }
  return std::nullopt;
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// The file that is meant after symbolic links, which need not exist. Nothing when links go in
/// circles.
std::optional<std::string> follow_links(std::string path) {
  for (int i = 0; i < max_links; ++i) {
    char link[PATH_MAX];
    const ssize_t size = ::readlink(path.c_str(), link, sizeof link);
    if (size < 0) return path;
    const std::string_view to(link, static_cast<std::size_t>(size));
    path = to.starts_with('/') ? std::string(to) : folder_of(path) + "/" + std::string(to);
  }
  return std::nullopt;
}

/// A name next to the target that nobody else in this process or another uses now.
std::string unique_name(const std::string& target) {
  static std::atomic<unsigned> counter = 0;  // the only effect is that names differ
  const std::size_t slash = target.rfind('/');
  const std::size_t start = slash == std::string::npos ? 0 : slash + 1;
  // The name is cut so that what is added still fits into the 255 bytes that file systems allow.
  return fmt::format("{}.{}.{}.{}.tmp", target.substr(0, start), target.substr(start, 200),
                     ::getpid(), counter++);
}

}  // namespace

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)) {
  if (path_.empty()) fail("cannot write a file without a name");
  if (const std::optional<int> fd = descriptor_of(path_)) {
    plain_ = true;
    if (path_ == "-") path_ = "standard output";
    fd_ = ::fcntl(*fd, F_DUPFD_CLOEXEC, 0);
    if (fd_ < 0) fail_with("open", errno);
    return;
  }
  std::optional<std::string> target = follow_links(path_);
  if (!target) fail_with("open", ELOOP);
  target_ = std::move(*target);
  struct stat status{};
  replaces_ = ::stat(target_.c_str(), &status) == 0;
  if (!replaces_ && errno != ENOENT) fail_with("open", errno);
  if (replaces_ && S_ISDIR(status.st_mode)) fail_with("write", EISDIR);
  if (replaces_ && !S_ISREG(status.st_mode)) {
    open_plain();
    return;
  }
  if (replaces_ && ::faccessat(AT_FDCWD, target_.c_str(), W_OK, AT_EACCESS) != 0)
    fail_with("write", errno);
  open_temporary();
  if (replaces_ && ::fchmod(fd_, status.st_mode & 0777U) != 0)
    fail_with("set the permissions of", errno);
}

AtomicFile::~AtomicFile() {
  discard();
}

void AtomicFile::open_plain() {
  plain_ = true;
  fd_ = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
  if (fd_ < 0) fail_with("open", errno);
}

void AtomicFile::open_temporary() {
  // A file without a name vanishes even when the process is killed; it gets one in commit(), by way
  // of /proc. Not every file system can do that.
  if (::access("/proc/self/fd", X_OK) == 0) {
    fd_ = ::open(folder_of(target_).c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    if (fd_ >= 0) return;
  }
  for (int i = 0; i < max_names; ++i) {
    std::string name = unique_name(target_);
    fd_ = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd_ >= 0) {
      temporary_ = std::move(name);
      return;
    }
    if (errno != EEXIST) break;
  }
  fail_with("create", errno);
}

void AtomicFile::link_temporary() {
  const std::string open_file = fmt::format("/proc/self/fd/{}", fd_);
  for (int i = 0; i < max_names; ++i) {
    std::string name = unique_name(target_);
    if (::linkat(AT_FDCWD, open_file.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) {
      temporary_ = std::move(name);
      return;
    }
    if (errno != EEXIST) break;
  }
  fail_with("create", errno);
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  WINZE_CHECK(fd_ >= 0, "\"{}\" is written to after commit or failure", path_);
  if (buffer_.size() + bytes.size() > buffer_size) flush();
  if (bytes.size() >= buffer_size) {
    write_all(bytes.data(), bytes.size());
  } else {
    buffer_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
}

void AtomicFile::flush() {
  write_all(reinterpret_cast<const std::byte*>(buffer_.data()), buffer_.size());
  buffer_.clear();
}

void AtomicFile::write_all(const std::byte* data, std::size_t size) {
  while (size > 0) {
    const ssize_t count = ::write(fd_, data, size);
    if (count < 0 && errno == EINTR) continue;
    // Pages of a mapped file that are behind its end; where it is known, the caller names the file.
    if (count < 0 && errno == EFAULT) {
      discard();
      throw Error("this file, or one that it takes bytes from, was shortened while it was copied");
    }
    if (count < 0) fail_with("write", errno);
    data += count;
    size -= static_cast<std::size_t>(count);
  }
}

void AtomicFile::commit() {
  WINZE_CHECK(fd_ >= 0, "\"{}\" is committed after commit or failure", path_);
  flush();
  if (!plain_ && temporary_.empty()) link_temporary();
  if (::close(std::exchange(fd_, -1)) != 0) fail_with("write", errno);
  if (plain_) return;
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail_with("replace", errno);
  temporary_.clear();
}

void AtomicFile::discard() noexcept {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  temporary_.clear();
}

void AtomicFile::fail_with(std::string_view action, int error_number) {
  discard();
  Diagnostic diagnostic;
  diagnostic.message = fmt::format("cannot {} the file: {}", action, std::strerror(error_number));
  diagnostic.where.file = path_;
  if (!plain_ && replaces_) diagnostic.hint = "the file is as it was before";
  throw Error(std::move(diagnostic));
}

void write_file_atomically(const std::string& path, std::string_view content) {
  AtomicFile file(path);
  file.write(content);
  file.commit();
}

}  // namespace winze
