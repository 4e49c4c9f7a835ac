// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "winze/program/program.h"
#include "winze/support/bytes.h"
#include "winze/support/diagnostic.h"
#include "winze/support/zip_reader.h"

namespace winze {

/// Names of records below an archive's root folder (torch/csrc/export/pt2_archive_constants.h).
inline constexpr std::string_view archive_format_record = "archive_format";
inline constexpr std::string_view archive_version_record = "archive_version";
inline constexpr std::string_view byteorder_record = "byteorder";
inline constexpr std::string_view container_version_record = ".data/version";
inline constexpr std::string_view serialization_id_record = ".data/serialization_id";
inline constexpr std::string_view weights_folder = "data/weights/";
inline constexpr std::string_view constants_folder = "data/constants/";

/// Where the parts of a program stand in an archive.
class ArchiveLayout {
 public:
  /// Tells the layouts of torch 2.7 (flat) and of 2.8 and later (below a root folder) apart, and
  /// everything else from both. Throws Error that says what the file is where it holds no program.
  explicit ArchiveLayout(const ZipReader& zip);

  /// The layout of torch 2.7 and before: one program, weights in files of torch.save.
  [[nodiscard]] bool is_flat() const { return is_flat_; }
  /// The folder that all records are in, with its slash; empty for the flat layout.
  [[nodiscard]] const std::string& root() const { return root_; }
  [[nodiscard]] const std::vector<std::string>& models() const { return models_; }
  /// The model of that name, or the only one where `wanted` is empty; an Error lists the names.
  [[nodiscard]] const std::string& choose_model(std::string_view wanted) const;

  /// Full names of records.
  [[nodiscard]] std::string program_record(std::string_view model) const;
  [[nodiscard]] std::string sample_inputs_record(std::string_view model) const;
  /// The file of torch.save with the weights (or constants) of torch 2.8 and before.
  [[nodiscard]] std::string pickled_weights_record(std::string_view model) const;
  [[nodiscard]] std::string pickled_constants_record(std::string_view model) const;
  [[nodiscard]] std::string weights_config_record(std::string_view model) const;
  [[nodiscard]] std::string constants_config_record(std::string_view model) const;

 private:
  void find_root(const ZipReader& zip);
  void check_format(const ZipReader& zip) const;
  [[nodiscard]] Error unknown_content(const ZipReader& zip) const;

  std::string file_name_;
  bool is_flat_ = false;
  std::string root_;
  std::vector<std::string> models_;
};

/// The content of a record: a range of the archive where it is stored, inflated bytes where it is
/// deflated.
[[nodiscard]] Bytes record_bytes(const ZipReader& zip, const ZipEntry& entry);

/// Why a weight's meta does not fit its storage: it reaches beyond it, or the storage is no whole
/// number of elements. Nothing where it fits. An empty storage fits every meta: export writes one
/// for a fake tensor.
[[nodiscard]] std::optional<std::string> why_not_fitting(const Storage& storage,
                                                         const TensorMeta& meta,
                                                         std::string_view fqn);

}  // namespace winze
