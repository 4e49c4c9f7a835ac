// SPDX-License-Identifier: Apache-2.0
#include "winze/program/archive_layout.h"

#include <algorithm>

#include <fmt/format.h>

#include "winze/support/quote.h"

namespace winze {
namespace {

constexpr std::string_view flat_program = "serialized_exported_program.json";
constexpr std::string_view models_folder = "models/";
constexpr std::string_view json_suffix = ".json";
constexpr std::string_view export_hint =
    "a program is made by torch.export.save(torch.export.export(model, args), \"model.pt2\")";

}  // namespace

ArchiveLayout::ArchiveLayout(const ZipReader& zip) : file_name_(zip.file_name()) {
  if (zip.find(flat_program) != nullptr) {
    is_flat_ = true;
    models_.emplace_back("model");
    return;
  }
  find_root(zip);
  check_format(zip);
  for (const ZipEntry& entry : zip.entries()) {
    if (!entry.name.starts_with(root_)) continue;
    std::string_view name = entry.name.substr(root_.size());
    if (!name.starts_with(models_folder) || !name.ends_with(json_suffix)) continue;
    name = name.substr(models_folder.size());
    if (name.size() > json_suffix.size())
      models_.emplace_back(name.substr(0, name.size() - json_suffix.size()));
  }
  if (models_.empty()) throw unknown_content(zip);
}

void ArchiveLayout::find_root(const ZipReader& zip) {
  for (const ZipEntry& entry : zip.entries()) {
    const std::size_t folder = entry.name.find('/');
    const std::size_t start = folder == std::string_view::npos ? 0 : folder + 1;
    if (entry.name.substr(start) != archive_format_record) continue;
    root_ = entry.name.substr(0, start);
    return;
  }
  throw unknown_content(zip);
}

void ArchiveLayout::check_format(const ZipReader& zip) const {
  const auto expect = [&](std::string_view record, std::string_view wanted) {
    const std::string name = root_ + std::string(record);
    const ZipEntry* entry = zip.find(name);
    if (entry == nullptr) return;
    constexpr std::size_t longest = 64;
    const std::string found =
        entry->size > longest ? "..." : std::string(zip.read(*entry).string_view());
    if (found == wanted) return;
    throw zip.error(
        name, fmt::format("{} is {}; this version reads {}", record, quote(found), quote(wanted)));
  };
  expect(archive_format_record, "pt2");
  expect(archive_version_record, "0");
  expect(byteorder_record, "little");
}

Error ArchiveLayout::unknown_content(const ZipReader& zip) const {
  const auto has = [&](std::string_view name) {
    return std::ranges::any_of(zip.entries(), [&](const ZipEntry& entry) {
      const std::size_t folder = entry.name.find('/');
      return folder != std::string_view::npos && entry.name.substr(folder + 1).starts_with(name);
    });
  };
  if (has("constants.pkl")) {
    return zip.error("", "this is a TorchScript archive (torch.jit.save), not an exported program",
                     std::string(export_hint));
  }
  if (has("data/aotinductor/")) {
    return zip.error("",
                     "this is a package of AOTInductor, which holds compiled code and no program",
                     "give the program that it was compiled from");
  }
  if (has("data.pkl")) {
    return zip.error(
        "",
        "this is a file of torch.save (weights or other pickled objects), not an exported program",
        std::string(export_hint));
  }
  return zip.error("", "this zip archive holds no exported program (models/NAME.json)",
                   std::string(export_hint));
}

const std::string& ArchiveLayout::choose_model(std::string_view wanted) const {
  if (wanted.empty() && models_.size() == 1) return models_[0];
  const auto found = std::ranges::find(models_, wanted);
  if (found != models_.end()) return *found;
  std::string listed;
  for (const std::string& model : models_) {
    if (!listed.empty()) listed += ", ";
    listed += quote(model);
    if (listed.size() > 1000) {
      listed += ", ...";
      break;
    }
  }
  Diagnostic diagnostic;
  diagnostic.where.file = file_name_;
  diagnostic.message =
      wanted.empty()
          ? fmt::format("the archive holds {} programs: {}", models_.size(), listed)
          : fmt::format("the archive holds no program {}; it holds {}", quote(wanted), listed);
  diagnostic.hint = "name one of them (--model NAME)";
  throw Error(std::move(diagnostic));
}

std::string ArchiveLayout::program_record(std::string_view model) const {
  return is_flat_ ? std::string(flat_program)
                  : fmt::format("{}{}{}.json", root_, models_folder, model);
}

std::string ArchiveLayout::sample_inputs_record(std::string_view model) const {
  return is_flat_ ? "serialized_example_inputs.pt"
                  : fmt::format("{}data/sample_inputs/{}.pt", root_, model);
}

std::string ArchiveLayout::pickled_weights_record(std::string_view model) const {
  return is_flat_ ? "serialized_state_dict.pt"
                  : fmt::format("{}{}{}.pt", root_, weights_folder, model);
}

std::string ArchiveLayout::pickled_constants_record(std::string_view model) const {
  return is_flat_ ? "serialized_constants.pt"
                  : fmt::format("{}{}{}.pt", root_, constants_folder, model);
}

std::string ArchiveLayout::weights_config_record(std::string_view model) const {
  return fmt::format("{}{}{}_weights_config.json", root_, weights_folder, model);
}

std::string ArchiveLayout::constants_config_record(std::string_view model) const {
  return fmt::format("{}{}{}_constants_config.json", root_, constants_folder, model);
}

Bytes record_bytes(const ZipReader& zip, const ZipEntry& entry) {
  return entry.method == ZipMethod::stored ? zip.stored_range(entry) : zip.read(entry);
}

std::optional<std::string> why_not_fitting(const Storage& storage, const TensorMeta& meta,
                                           std::string_view fqn) {
  std::string problem;
  try {
    const std::uint64_t needed = storage_size_needed(meta);
    const std::uint32_t width = element_size(meta.dtype);
    if (storage.size == 0 || meta.layout != Layout::strided) return std::nullopt;
    if (needed > storage.size) {
      problem = fmt::format("it reaches to byte {} of a storage of {} bytes", needed, storage.size);
    } else if (width != 0 && storage.size % width != 0) {
      problem = fmt::format("its storage of {} bytes is no whole number of elements of {} bytes",
                            storage.size, width);
    }
  } catch (const Error& error) {
    problem = error.diagnostic().message;
  }
  if (problem.empty()) return std::nullopt;
  return fmt::format("weight {} does not fit: {}", quote(fqn), problem);
}

}  // namespace winze
