// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "winze/ir/dtype.h"
#include "winze/program/pickle_reader.h"
#include "winze/support/bytes.h"
#include "winze/support/diagnostic.h"
#include "winze/support/zip_reader.h"

namespace winze {

/// A tensor of a file of torch.save. Sizes, strides and offset are in elements and not negative;
/// whether they fit the storage is not checked.
struct SavedTensor {
  ScalarType dtype = ScalarType::float32;
  bool requires_grad = false;
  std::string_view location;  ///< device of the storage: `cpu`, `cuda:0`
  std::int64_t offset = 0;
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;
  std::string_view storage_key;       ///< tensors that share storage have the same
  const ZipEntry* storage = nullptr;  ///< the record with the bytes
};

/// Why a tensor reaches beyond a storage of so many bytes; nothing where it does not.
[[nodiscard]] std::optional<std::string> why_outside_storage(const SavedTensor& tensor,
                                                             std::uint64_t storage_size);

/// A file of torch.save in the zip format that it has since PyTorch 1.6: its pickle, and the
/// tensors that the pickle refers to. No content of a tensor is read.
class TorchSaveArchive {
 public:
  /// Throws Error where the archive or its pickle is malformed, is big-endian, or needs more than
  /// `pickle` allows. `where` gives file and record for errors.
  TorchSaveArchive(const Bytes& content, Where where, const PickleOptions& pickle = {});

  [[nodiscard]] const Pickle& pickle() const { return pickle_; }
  [[nodiscard]] const ZipReader& zip() const { return zip_; }
  /// An object of kind `tensor`, which errors call `name`. Throws Error where it is no plain
  /// tensor.
  [[nodiscard]] SavedTensor tensor(const PickleObject& object, std::string_view name) const;
  [[nodiscard]] Error error(std::string message, std::string hint = {}) const;

 private:
  [[nodiscard]] const PickleObject& child(const PickleObject& object, std::size_t index) const {
    return pickle_[object.children[index]];
  }
  void find_root();
  [[nodiscard]] ScalarType read_dtype(std::string_view name, const PickleObject& tensor) const;
  [[nodiscard]] std::vector<std::int64_t> read_integers(std::string_view name,
                                                        const PickleObject& tuple) const;
  void check_metadata(std::string_view name, const PickleObject& tensor) const;
  [[nodiscard]] const ZipEntry* find_storage(std::string_view name,
                                             const PickleObject& storage) const;

  Where where_;
  ZipReader zip_;
  std::string root_;
  Bytes pickle_bytes_;
  Pickle pickle_;
};

}  // namespace winze
