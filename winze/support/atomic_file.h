// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "winze/support/byte_sink.h"

namespace winze {

/// A file that appears whole or not at all. Bytes go to a temporary file in the folder of the
/// target; `commit()` renames the temporary file over the target. Without commit, or when the
/// process is killed or the disk is full, the target keeps its old content. What a loss of power
/// leaves is up to the file system: the bytes are not forced to the disk, which would take several
/// times as long as writing them.
///
/// A symbolic link is followed: the file it names is replaced, not the link. A new file gets the
/// permissions that the umask leaves, a replaced one keeps those it had. What is not a regular file
/// (a pipe, a terminal, `/dev/stdout`, or `-` for standard output) is written to as bytes come.
///
/// All members throw Error that names the path and the system's reason.
class AtomicFile final : public ByteSink {
 public:
  explicit AtomicFile(std::string path);
  ~AtomicFile() override;

  using ByteSink::write;
  void write(std::span<const std::byte> bytes) override;
  [[nodiscard]] bool is_transactional() const override { return !plain_; }
  /// Makes what was written the content of the target. Nothing can be written afterwards.
  void commit();

  /// The path as the user gave it, or `standard output`: for messages.
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  void open_temporary();
  void open_plain();
  void link_temporary();
  void flush();
  void write_all(const std::byte* data, std::size_t size);
  void discard() noexcept;
  [[noreturn]] void fail_with(std::string_view action, int error_number);

  std::string path_;       ///< as given, and said in messages
  std::string target_;     ///< after symbolic links
  std::string temporary_;  ///< empty while the temporary file has no name
  std::string buffer_;     ///< small writes are gathered here
  int fd_ = -1;
  bool replaces_ = false;  ///< there was a file before
  bool plain_ = false;     ///< not a regular file: written to directly
};

/// Replaces the content of a file at once, or leaves it as it was and throws Error.
void write_file_atomically(const std::string& path, std::string_view content);

}  // namespace winze
