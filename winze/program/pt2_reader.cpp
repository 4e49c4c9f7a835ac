// SPDX-License-Identifier: Apache-2.0
#include "winze/program/pt2_reader.h"

#include <fmt/format.h>

#include "winze/program/archive_layout.h"
#include "winze/program/program_reader.h"
#include "winze/program/weights_reader.h"
#include "winze/support/quote.h"
#include "winze/support/string_map.h"
#include "winze/support/zip_reader.h"

namespace winze {
namespace {

ZipReader open_archive(const Bytes& archive, const std::string& file_name) {
  if (ZipReader::looks_like_zip(archive.string_view())) return ZipReader(archive, file_name);
  // The magic number of torch.save before PyTorch 1.6: a pickle of a long.
  constexpr std::string_view legacy_magic =
      "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19";
  Diagnostic diagnostic;
  diagnostic.where.file = file_name;
  diagnostic.message =
      archive.string_view().starts_with(legacy_magic)
          ? "this is a file of torch.save before PyTorch 1.6, not an exported program"
          : "this is no zip archive, as every .pt2 file is";
  diagnostic.hint =
      "a program is made by torch.export.save(torch.export.export(model, args), \"model.pt2\")";
  throw Error(std::move(diagnostic));
}

/// Records that the writer makes anew.
bool is_made_by_writer(std::string_view name) {
  return name == archive_format_record || name == archive_version_record ||
         name == byteorder_record || name == container_version_record ||
         name == serialization_id_record;
}

void keep_example_inputs(ExportedProgram& program, const ZipReader& zip,
                         const ArchiveLayout& layout, StringViewSet& used) {
  const ZipEntry* inputs = zip.find(layout.sample_inputs_record(program.name));
  if (inputs == nullptr) return;
  used.insert(inputs->name);
  program.example_inputs = {std::string(inputs->name.substr(layout.root().size())),
                            record_bytes(zip, *inputs), inputs->crc32};
}

/// Takes along every record that is no part of the program itself.
void keep_records(ExportedProgram& program, const ZipReader& zip, const ArchiveLayout& layout,
                  const StringViewSet& used) {
  for (const ZipEntry& entry : zip.entries()) {
    if (used.contains(entry.name) || entry.name.ends_with('/')) continue;
    std::string name(entry.name);
    if (layout.is_flat()) {
      constexpr std::string_view flat_extra = "extra_files/";
      if (name == "version") continue;
      if (name.starts_with(flat_extra)) name = "extra/" + name.substr(flat_extra.size());
    } else {
      if (!entry.name.starts_with(layout.root())) continue;
      name = entry.name.substr(layout.root().size());
      if (is_made_by_writer(name)) continue;
    }
    program.records.push_back({std::move(name), record_bytes(zip, entry), entry.crc32});
  }
}

}  // namespace

bool looks_like_pt2(std::string_view bytes) {
  return ZipReader::looks_like_zip(bytes);
}

std::vector<std::string> list_models(const Bytes& archive, const std::string& file_name) {
  const ZipReader zip = open_archive(archive, file_name);
  return ArchiveLayout(zip).models();
}

ExportedProgram read_pt2(Context& context, const Bytes& archive, const ReadOptions& options) {
  const ZipReader zip = open_archive(archive, options.file_name);
  const ArchiveLayout layout(zip);
  ExportedProgram program(context);
  program.name = layout.choose_model(options.model);
  program.archive = {options.file_name, zip.digest()};

  const ZipEntry& json = zip.get(layout.program_record(program.name));
  StringViewSet used{json.name};
  Where where;
  where.file = options.file_name;
  where.record = json.name;
  read_program_json(program, zip.read(json), where, options.warnings);
  read_weights(program, zip, layout, used, options.warnings);
  keep_example_inputs(program, zip, layout, used);
  keep_records(program, zip, layout, used);
  return program;
}

void attach_weights(ExportedProgram& program, const Bytes& archive, const ReadOptions& options) {
  const ZipReader zip = open_archive(archive, options.file_name);
  const ArchiveLayout layout(zip);
  ExportedProgram source(program.context());
  source.name = layout.choose_model(
      options.model.empty() && layout.models().size() > 1 ? program.name : options.model);
  StringViewSet used{zip.get(layout.program_record(source.name)).name};
  read_weights(source, zip, layout, used, options.warnings);

  tsl::robin_map<std::uint32_t, StorageId> moved;  // storages of `source` in `program`
  const auto attach = [&](WeightTable& table, const WeightTable& available) {
    for (const Weight& entry : table) {
      Weight& weight = *table.find(entry.fqn);
      if (weight.storage.valid() && program.storage(weight).has_bytes) continue;
      const Weight* found = available.find(weight.fqn);
      if (found == nullptr)
        throw zip.error("", fmt::format("the archive has no weight {}", quote(weight.fqn)));
      if (found->kind != weight.kind || found->meta != weight.meta) {
        throw zip.error(
            "", fmt::format(
                    "weight {} of the archive differs from that of the program in dtype or shape",
                    quote(weight.fqn)));
      }
      const auto [id, inserted] = moved.emplace(found->storage.index, StorageId{});
      if (inserted) id.value() = program.add_storage(source.storage(*found));
      weight.storage = id->second;
    }
  };
  attach(program.state_dict, source.state_dict);
  attach(program.constants, source.constants);
  // What a text leaves in its archive beside the weights.
  keep_example_inputs(source, zip, layout, used);
  keep_records(source, zip, layout, used);
  if (!program.example_inputs) program.example_inputs = std::move(source.example_inputs);
  if (program.records.empty()) program.records = std::move(source.records);
  if (program.archive.path.empty()) program.archive = {options.file_name, zip.digest()};
}

}  // namespace winze
