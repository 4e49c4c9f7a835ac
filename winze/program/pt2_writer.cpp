// SPDX-License-Identifier: Apache-2.0
#include "winze/program/pt2_writer.h"

#include <algorithm>
#include <future>

#include <fmt/format.h>

#include "winze/program/archive_layout.h"
#include "winze/program/program_writer.h"
#include "winze/program/weights_writer.h"
#include "winze/support/hash.h"
#include "winze/support/string_map.h"
#include "winze/support/zip_writer.h"

namespace winze {
namespace {

/// Readers strip the root folder; its name has no meaning.
constexpr std::string_view archive_root = "archive/";
/// `torch.export.load` reads the program named `model` and no other, so that a program is called so
/// whatever its name was, unless another program of the archive has that name.
std::string_view name_in_archive(const ExportedProgram& program) {
  constexpr std::string_view model = "model";
  const bool is_taken = std::ranges::any_of(program.records, [](const ArchiveRecord& record) {
    return record.name == "models/model.json";
  });
  return is_taken ? std::string_view(program.name) : model;
}

void add_record(ZipWriter& zip, const ArchiveRecord& record) {
  const std::string name = fmt::format("{}{}", archive_root, record.name);
  if (record.crc32) {
    zip.add_unchanged(name, record.bytes, *record.crc32);
  } else {
    zip.add(name, record.bytes);
  }
}

/// 40 digits, the first half of which depends on the program and the second on the names of the
/// weights. PyTorch's own depend on the names of the records and on their content.
std::string serialization_id(const std::string& program, const std::string& weights,
                             const std::string& constants) {
  return fmt::format("{:020}{:020}", hash_bytes(program),
                     hash_combine(hash_bytes(weights), hash_bytes(constants)));
}

}  // namespace

std::vector<Diagnostic> write_pt2(const ExportedProgram& program, ByteSink& sink,
                                  const WriteOptions& options) {
  std::vector<Diagnostic> warnings;
  const WriteTarget target = choose_target(program, options);
  WriteSession session = write_session(program, target, &warnings);
  StringViewSet taken;
  for (const ArchiveRecord& record : program.records) taken.insert(record.name);
  const std::string root(archive_root);
  const std::string_view model_name = name_in_archive(program);
  const WeightsWriter weights(program, program.state_dict, root, std::string(weights_folder),
                              "weight_", taken);
  const WeightsWriter constants(program, program.constants, root, std::string(constants_folder),
                                "tensor_", taken);
  // All that may fail is made before the first byte is written, or, where nobody sees the bytes of
  // a failure, the graph's text while the weights are copied: the two take about as long.
  const std::string weights_config = weights.config(session);
  const std::string constants_config = constants.config(session);
  std::string json;
  std::future<void> made = std::async([&] { json = program_json(program, options, &warnings); });
  if (!sink.is_transactional()) made.get();

  ZipWriter zip(sink);
  weights.write_payloads(zip);
  zip.add(fmt::format("{}{}{}_weights_config.json", root, weights_folder, model_name),
          weights_config);
  constants.write_payloads(zip);
  zip.add(fmt::format("{}{}{}_constants_config.json", root, constants_folder, model_name),
          constants_config);
  if (made.valid()) made.get();
  zip.add(fmt::format("{}models/{}.json", root, model_name), json);
  ArchiveRecord inputs;
  if (program.example_inputs) inputs = *program.example_inputs;
  // PyTorch wants the record even where there are no example inputs.
  inputs.name = fmt::format("data/sample_inputs/{}.pt", model_name);
  add_record(zip, inputs);
  for (const ArchiveRecord& record : program.records) add_record(zip, record);
  zip.add(fmt::format("{}{}", root, archive_format_record), "pt2");
  zip.add(fmt::format("{}{}", root, archive_version_record), "0");
  zip.add(fmt::format("{}{}", root, container_version_record), "6\n");
  zip.add(fmt::format("{}{}", root, byteorder_record), "little");
  zip.add(fmt::format("{}{}", root, serialization_id_record),
          serialization_id(json, weights_config, constants_config));
  zip.finish();
  return warnings;
}

}  // namespace winze
