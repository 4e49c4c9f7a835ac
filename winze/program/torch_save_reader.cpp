// SPDX-License-Identifier: Apache-2.0
#include "winze/program/torch_save_reader.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <tsl/robin_map.h>

#include "winze/program/archive_layout.h"
#include "winze/program/pickle_reader.h"
#include "winze/support/quote.h"
#include "winze/support/zip_reader.h"

namespace winze {
namespace {

constexpr std::string_view pickle_suffix = "data.pkl";

struct StorageClassRow {
  std::string_view name;
  ScalarType dtype;
};

constexpr StorageClassRow storage_classes[] = {
    {"torch.FloatStorage", ScalarType::float32},
    {"torch.DoubleStorage", ScalarType::float64},
    {"torch.HalfStorage", ScalarType::float16},
    {"torch.BFloat16Storage", ScalarType::bfloat16},
    {"torch.LongStorage", ScalarType::int64},
    {"torch.IntStorage", ScalarType::int32},
    {"torch.ShortStorage", ScalarType::int16},
    {"torch.CharStorage", ScalarType::int8},
    {"torch.ByteStorage", ScalarType::uint8},
    {"torch.BoolStorage", ScalarType::bool_},
    {"torch.ComplexDoubleStorage", ScalarType::complex128},
    {"torch.ComplexFloatStorage", ScalarType::complex64},
};

class TorchSaveReader {
 public:
  TorchSaveReader(ExportedProgram& program, WeightTable& table, const ZipReader& zip,
                  const Where& where)
      : program_(program), table_(table), zip_(zip), where_(where) {}

  void read();

 private:
  [[nodiscard]] Error error(std::string message) const;
  [[nodiscard]] const PickleObject& child(const PickleObject& object, std::size_t index) const {
    return pickle_[object.children[index]];
  }
  void find_root();
  void read_weight(const PickleObject& key, const PickleObject& value);
  [[nodiscard]] MetaId read_tensor(std::string_view fqn, const PickleObject& tensor,
                                   std::optional<bool> requires_grad, StorageId& storage);
  [[nodiscard]] ScalarType read_dtype(std::string_view fqn, const PickleObject& tensor) const;
  [[nodiscard]] Device read_device(std::string_view fqn, std::string_view location) const;
  [[nodiscard]] std::vector<SymInt> read_integers(std::string_view fqn,
                                                  const PickleObject& tuple) const;
  [[nodiscard]] StorageId read_storage(std::string_view fqn, const PickleObject& storage);

  ExportedProgram& program_;
  WeightTable& table_;
  const ZipReader& zip_;
  const Where& where_;
  std::string root_;
  Bytes pickle_bytes_;
  Pickle pickle_;
  tsl::robin_map<std::string_view, StorageId> storages_;
};

Error TorchSaveReader::error(std::string message) const {
  Diagnostic diagnostic;
  diagnostic.message = std::move(message);
  diagnostic.where = where_;
  return Error(std::move(diagnostic));
}

void TorchSaveReader::find_root() {
  for (const ZipEntry& entry : zip_.entries()) {
    const std::size_t folder = entry.name.find('/');
    if (folder == std::string_view::npos || entry.name.substr(folder + 1) != pickle_suffix)
      continue;
    root_ = entry.name.substr(0, folder + 1);
    return;
  }
  throw error("the record is no file of torch.save: it holds no data.pkl");
}

void TorchSaveReader::read() {
  find_root();
  if (const ZipEntry* order = zip_.find(root_ + "byteorder")) {
    if (zip_.read(*order).string_view() != "little")
      throw error("the weights are big-endian, which is not supported");
  }
  pickle_bytes_ = zip_.read(zip_.get(root_ + std::string(pickle_suffix)));
  pickle_ = read_pickle(pickle_bytes_.string_view(), where_);
  const PickleObject& root = pickle_[pickle_.root];
  if (root.kind != PickleKind::dictionary)
    throw error("the pickle holds something else than a dictionary of tensors");
  for (std::size_t index = 0; index < root.children.size(); index += 2) {
    read_weight(child(root, index), child(root, index + 1));
  }
}

void TorchSaveReader::read_weight(const PickleObject& key, const PickleObject& value) {
  if (key.kind != PickleKind::text) throw error("a key of the dictionary of tensors is no string");
  const PickleObject* tensor = &value;
  std::optional<bool> requires_grad;
  Weight weight;
  weight.fqn = key.text;
  if (value.kind == PickleKind::parameter) {
    weight.is_param = true;
    tensor = &child(value, 0);
    if (child(value, 1).kind != PickleKind::boolean)
      throw error(fmt::format("{} is no proper parameter", quote(key.text)));
    requires_grad = child(value, 1).boolean;
  }
  if (tensor->kind != PickleKind::tensor)
    throw error(fmt::format("{} is no plain tensor", quote(key.text)));
  weight.meta = read_tensor(key.text, *tensor, requires_grad, weight.storage);
  if (table_.find(weight.fqn) != nullptr)
    throw error(fmt::format("weight {} is there twice", quote(key.text)));
  table_.add(std::move(weight));
}

MetaId TorchSaveReader::read_tensor(std::string_view fqn, const PickleObject& tensor,
                                    std::optional<bool> requires_grad, StorageId& storage) {
  const PickleObject& source = child(tensor, 0);
  const bool is_proper =
      source.kind == PickleKind::storage && child(tensor, 1).kind == PickleKind::integer &&
      child(tensor, 2).kind == PickleKind::tuple && child(tensor, 3).kind == PickleKind::tuple &&
      child(tensor, 4).kind == PickleKind::boolean;
  if (!is_proper) throw error(fmt::format("{} is no plain tensor", quote(fqn)));
  const std::vector<SymInt> sizes = read_integers(fqn, child(tensor, 2));
  const std::vector<SymInt> strides = read_integers(fqn, child(tensor, 3));
  if (sizes.size() != strides.size()) {
    throw error(
        fmt::format("{} has {} sizes, but {} strides", quote(fqn), sizes.size(), strides.size()));
  }
  TensorMeta meta;
  meta.dtype = read_dtype(fqn, tensor);
  meta.requires_grad = requires_grad.value_or(child(tensor, 4).boolean);
  meta.device = read_device(fqn, child(source, 2).text);
  if (child(tensor, 1).integer < 0)
    throw error(fmt::format("{} has a negative storage offset", quote(fqn)));
  meta.storage_offset = child(tensor, 1).integer;
  meta.sizes = sizes;
  meta.strides = strides;
  storage = read_storage(fqn, source);
  if (const auto problem = why_not_fitting(program_.storages[storage.index], meta, fqn))
    throw error(*problem);
  return program_.context().tensor_meta(meta);
}

ScalarType TorchSaveReader::read_dtype(std::string_view fqn, const PickleObject& tensor) const {
  const std::string_view storage_class = child(child(tensor, 0), 0).text;
  if (tensor.text == "torch._utils._rebuild_tensor_v3") {
    const PickleObject& dtype = child(tensor, 6);
    constexpr std::string_view prefix = "torch.";
    if (dtype.kind == PickleKind::global && dtype.text.starts_with(prefix)) {
      if (const auto found = scalar_type_from_name(dtype.text.substr(prefix.size()))) return *found;
    }
    throw error(fmt::format("{} has no dtype that is known", quote(fqn)));
  }
  const auto row = std::ranges::find_if(
      storage_classes, [&](const StorageClassRow& known) { return known.name == storage_class; });
  if (row == std::end(storage_classes)) {
    throw error(fmt::format("{} has a storage of unknown class {}", quote(fqn), storage_class));
  }
  return row->dtype;
}

Device TorchSaveReader::read_device(std::string_view fqn, std::string_view location) const {
  Device device;
  const std::size_t colon = location.find(':');
  device.type = program_.context().device_type(location.substr(0, colon));
  if (colon == std::string_view::npos) return device;
  int index = 0;
  for (const char digit : location.substr(colon + 1)) {
    if (digit < '0' || digit > '9' || index > 3000) {
      throw error(fmt::format("{} is on the unknown device {}", quote(fqn), quote(location)));
    }
    index = index * 10 + (digit - '0');
  }
  device.index = static_cast<std::int16_t>(index);
  return device;
}

std::vector<SymInt> TorchSaveReader::read_integers(std::string_view fqn,
                                                   const PickleObject& tuple) const {
  std::vector<SymInt> integers;
  for (const std::uint32_t element : tuple.children) {
    const PickleObject& object = pickle_[element];
    if (object.kind != PickleKind::integer || object.integer < 0) {
      throw error(fmt::format("{} has a size or stride that is no natural number", quote(fqn)));
    }
    integers.emplace_back(object.integer);
    if (integers.size() > 1024)
      throw error(fmt::format("{} has more than 1024 dimensions", quote(fqn)));
  }
  return integers;
}

StorageId TorchSaveReader::read_storage(std::string_view fqn, const PickleObject& storage) {
  const std::string_view key = child(storage, 1).text;
  const auto [found, inserted] = storages_.emplace(key, StorageId{});
  if (!inserted) return found->second;
  const ZipEntry& entry = zip_.get(fmt::format("{}data/{}", root_, key));
  Storage read;
  read.bytes = record_bytes(zip_, entry);
  read.size = entry.size;
  read.has_bytes = true;
  read.crc32 = entry.crc32;
  const std::int64_t count = child(storage, 3).integer;
  const auto row = std::ranges::find_if(storage_classes, [&](const StorageClassRow& known) {
    return known.name == child(storage, 0).text;
  });
  const std::uint64_t width = row == std::end(storage_classes) ? 1 : element_size(row->dtype);
  if (count < 0 || static_cast<std::uint64_t>(count) > entry.size / width) {
    throw error(fmt::format(
        "the storage of {} has {} elements by the pickle, but its record {} only {} bytes",
        quote(fqn), count, quote(entry.name), entry.size));
  }
  found.value() = program_.add_storage(std::move(read));
  return found->second;
}

}  // namespace

void read_torch_save(ExportedProgram& program, WeightTable& table, const Bytes& content,
                     const Where& where) {
  // torch.export.save writes nothing at all where there is nothing to save.
  if (content.empty()) return;
  if (!ZipReader::looks_like_zip(content.string_view())) {
    Diagnostic diagnostic;
    diagnostic.message =
        "the weights are in the format that torch.save wrote before PyTorch 1.6, which is not "
        "supported";
    diagnostic.where = where;
    diagnostic.hint = "export the model again with PyTorch 2.7 or later";
    throw Error(std::move(diagnostic));
  }
  const ZipReader zip(content, where.file.empty() ? where.record : where.file + ":" + where.record);
  TorchSaveReader(program, table, zip, where).read();
}

}  // namespace winze
