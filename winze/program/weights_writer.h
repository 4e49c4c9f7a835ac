// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "winze/program/graph_writer.h"
#include "winze/program/program.h"
#include "winze/support/integer_map.h"
#include "winze/support/string_map.h"
#include "winze/support/zip_writer.h"

namespace winze {

/// Writes the payloads of one table of weights and the config that lists them.
class WeightsWriter {
 public:
  /// `folder` is below the archive's root, `prefix` that of new records (`weight_`); `taken` holds
  /// the names of all records that are carried through.
  WeightsWriter(const ExportedProgram& program, const WeightTable& table, std::string root,
                std::string folder, std::string prefix, const StringViewSet& taken);

  /// Throws Error naming a weight without bytes.
  void write_payloads(ZipWriter& zip) const;
  /// The schema's PayloadConfig.
  [[nodiscard]] std::string config(WriteSession& session) const;

 private:
  struct Payload {
    StorageId storage;
    std::string record;
  };
  [[nodiscard]] std::uint32_t add_payload(const Weight& weight);
  [[nodiscard]] std::string choose_name(const Storage& storage);

  const ExportedProgram& program_;
  const WeightTable& table_;
  std::string root_;
  std::string folder_;
  std::string prefix_;
  const StringViewSet& taken_;
  StringSet names_;
  std::vector<Payload> payloads_;
  std::vector<std::uint32_t> payload_of_;  ///< by position in the table
  /// Payloads by storage and dtype: PyTorch reads a record as elements of one dtype.
  IntegerMap<std::uint32_t> by_storage_;
  std::uint32_t next_number_ = 0;
};

}  // namespace winze
