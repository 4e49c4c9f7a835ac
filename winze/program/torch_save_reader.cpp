// SPDX-License-Identifier: Apache-2.0
#include "winze/program/torch_save_reader.h"

#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "winze/program/archive_layout.h"
#include "winze/program/torch_save_archive.h"
#include "winze/support/quote.h"
#include "winze/support/string_map.h"

namespace winze {
namespace {

class TorchSaveReader {
 public:
  TorchSaveReader(ExportedProgram& program, WeightTable& table, const TorchSaveArchive& archive)
      : program_(program), table_(table), archive_(archive) {}

  void read();

 private:
  [[nodiscard]] const PickleObject& child(const PickleObject& object, std::size_t index) const {
    return archive_.pickle()[object.children[index]];
  }
  void read_weight(const PickleObject& key, const PickleObject& value);
  [[nodiscard]] MetaId read_tensor(std::string_view fqn, const PickleObject& tensor,
                                   std::optional<bool> requires_grad, StorageId& storage);
  [[nodiscard]] Device read_device(std::string_view fqn, std::string_view location) const;
  [[nodiscard]] StorageId read_storage(const SavedTensor& saved);

  ExportedProgram& program_;
  WeightTable& table_;
  const TorchSaveArchive& archive_;
  StringViewMap<StorageId> storages_;
};

void TorchSaveReader::read() {
  const PickleObject& root = archive_.pickle()[archive_.pickle().root];
  if (root.kind != PickleKind::dictionary)
    throw archive_.error("the pickle holds something else than a dictionary of tensors");
  for (std::size_t index = 0; index < root.children.size(); index += 2) {
    read_weight(child(root, index), child(root, index + 1));
  }
}

void TorchSaveReader::read_weight(const PickleObject& key, const PickleObject& value) {
  if (key.kind != PickleKind::text)
    throw archive_.error("a key of the dictionary of tensors is no string");
  const PickleObject* tensor = &value;
  std::optional<bool> requires_grad;
  Weight weight;
  weight.fqn = key.text;
  if (value.kind == PickleKind::parameter) {
    weight.is_param = true;
    tensor = &child(value, 0);
    if (child(value, 1).kind != PickleKind::boolean)
      throw archive_.error(fmt::format("{} is no proper parameter", quote(key.text)));
    requires_grad = child(value, 1).boolean;
  }
  weight.meta = read_tensor(key.text, *tensor, requires_grad, weight.storage);
  if (table_.find(weight.fqn) != nullptr)
    throw archive_.error(fmt::format("weight {} is there twice", quote(key.text)));
  table_.add(std::move(weight));
}

MetaId TorchSaveReader::read_tensor(std::string_view fqn, const PickleObject& tensor,
                                    std::optional<bool> requires_grad, StorageId& storage) {
  const SavedTensor saved = archive_.tensor(tensor, fqn);
  const std::vector<SymInt> sizes(saved.sizes.begin(), saved.sizes.end());
  const std::vector<SymInt> strides(saved.strides.begin(), saved.strides.end());
  TensorMeta meta;
  meta.dtype = saved.dtype;
  meta.requires_grad = requires_grad.value_or(saved.requires_grad);
  meta.device = read_device(fqn, saved.location);
  meta.storage_offset = saved.offset;
  meta.sizes = sizes;
  meta.strides = strides;
  storage = read_storage(saved);
  if (const auto problem = why_not_fitting(program_.storages[storage.index], meta, fqn))
    throw archive_.error(*problem);
  return program_.context().tensor_meta(meta);
}

Device TorchSaveReader::read_device(std::string_view fqn, std::string_view location) const {
  Device device;
  const std::size_t colon = location.find(':');
  device.type = program_.context().device_type(location.substr(0, colon));
  if (colon == std::string_view::npos) return device;
  int index = 0;
  for (const char digit : location.substr(colon + 1)) {
    if (digit < '0' || digit > '9' || index > 3000) {
      throw archive_.error(
          fmt::format("{} is on the unknown device {}", quote(fqn), quote(location)));
    }
    index = index * 10 + (digit - '0');
  }
  device.index = static_cast<std::int16_t>(index);
  return device;
}

StorageId TorchSaveReader::read_storage(const SavedTensor& saved) {
  const auto [found, inserted] = storages_.emplace(saved.storage_key, StorageId{});
  if (!inserted) return found->second;
  Storage read;
  read.bytes = record_bytes(archive_.zip(), *saved.storage);
  read.size = saved.storage->size;
  read.has_bytes = true;
  read.crc32 = saved.storage->crc32;
  found.value() = program_.add_storage(std::move(read));
  return found->second;
}

}  // namespace

void read_torch_save(ExportedProgram& program, WeightTable& table, const Bytes& content,
                     const Where& where) {
  // torch.export.save writes nothing at all where there is nothing to save.
  if (content.empty()) return;
  const TorchSaveArchive archive(content, where);
  TorchSaveReader(program, table, archive).read();
}

}  // namespace winze
