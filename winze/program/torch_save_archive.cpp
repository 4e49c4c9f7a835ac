// SPDX-License-Identifier: Apache-2.0
#include "winze/program/torch_save_archive.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "winze/program/archive_layout.h"
#include "winze/support/quote.h"

namespace winze {
namespace {

constexpr std::string_view pickle_suffix = "data.pkl";
constexpr std::size_t max_dimensions = 1024;

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

const StorageClassRow* find_storage_class(std::string_view name) {
  const auto row = std::ranges::find_if(
      storage_classes, [&](const StorageClassRow& known) { return known.name == name; });
  return row == std::end(storage_classes) ? nullptr : row;
}

std::string zip_name(const Where& where) {
  if (where.record.empty()) return where.file;
  return where.file.empty() ? where.record : where.file + ":" + where.record;
}

Bytes checked_zip(const Bytes& content, const Where& where, std::string_view what) {
  if (ZipReader::looks_like_zip(content.string_view())) return content;
  Diagnostic diagnostic;
  diagnostic.message = fmt::format(
      "{} are in the format that torch.save wrote before PyTorch 1.6, which is not supported",
      what);
  diagnostic.where = where;
  diagnostic.hint = "write the file again with PyTorch 2.7 or later";
  throw Error(std::move(diagnostic));
}

}  // namespace

std::optional<std::string> why_outside_storage(const SavedTensor& tensor,
                                               std::uint64_t storage_size) {
  const std::uint64_t elements = storage_size / element_size(tensor.dtype);
  auto last = static_cast<std::uint64_t>(tensor.offset);
  // Each summand is below the number of elements before it is added, so nothing overflows.
  bool fits = last <= elements;
  for (std::size_t axis = 0; axis < tensor.sizes.size(); ++axis) {
    const auto size = static_cast<std::uint64_t>(tensor.sizes[axis]);
    const auto stride = static_cast<std::uint64_t>(tensor.strides[axis]);
    if (size == 0) return std::nullopt;
    if (size == 1 || stride == 0) continue;
    fits = fits && (size - 1) <= elements / stride;
    if (fits) last += (size - 1) * stride;
    fits = fits && last <= elements;
  }
  if (fits && last < elements) return std::nullopt;
  return fmt::format("it reaches beyond the {} elements of its storage", elements);
}

TorchSaveArchive::TorchSaveArchive(const Bytes& content, Where where, const PickleOptions& pickle)
    : where_(std::move(where)),
      zip_(checked_zip(content, where_, pickle.subject), zip_name(where_)) {
  find_root();
  if (const ZipEntry* order = zip_.find(root_ + "byteorder")) {
    if (zip_.read(*order).string_view() != "little")
      throw error(fmt::format("{} are big-endian, which is not supported", pickle.subject));
  }
  pickle_bytes_ = zip_.read(zip_.get(root_ + std::string(pickle_suffix)));
  pickle_ = read_pickle(pickle_bytes_.string_view(), where_, pickle);
}

Error TorchSaveArchive::error(std::string message, std::string hint) const {
  Diagnostic diagnostic;
  diagnostic.message = std::move(message);
  diagnostic.where = where_;
  diagnostic.hint = std::move(hint);
  return Error(std::move(diagnostic));
}

void TorchSaveArchive::find_root() {
  for (const ZipEntry& entry : zip_.entries()) {
    const std::size_t folder = entry.name.find('/');
    if (folder == std::string_view::npos || entry.name.substr(folder + 1) != pickle_suffix)
      continue;
    root_ = entry.name.substr(0, folder + 1);
    return;
  }
  throw error("this is no file of torch.save: it holds no data.pkl");
}

SavedTensor TorchSaveArchive::tensor(const PickleObject& object, std::string_view name) const {
  const bool is_proper =
      object.kind == PickleKind::tensor && child(object, 0).kind == PickleKind::storage &&
      child(object, 1).kind == PickleKind::integer && child(object, 2).kind == PickleKind::tuple &&
      child(object, 3).kind == PickleKind::tuple && child(object, 4).kind == PickleKind::boolean;
  if (!is_proper) throw error(fmt::format("{} is no plain tensor", quote(name)));
  const PickleObject& source = child(object, 0);
  SavedTensor read;
  read.sizes = read_integers(name, child(object, 2));
  read.strides = read_integers(name, child(object, 3));
  if (read.sizes.size() != read.strides.size()) {
    throw error(fmt::format("{} has {} sizes, but {} strides", quote(name), read.sizes.size(),
                            read.strides.size()));
  }
  read.dtype = read_dtype(name, object);
  read.requires_grad = child(object, 4).boolean;
  read.location = child(source, 2).text;
  read.offset = child(object, 1).integer;
  if (read.offset < 0) throw error(fmt::format("{} has a negative storage offset", quote(name)));
  check_metadata(name, object);
  read.storage_key = child(source, 1).text;
  read.storage = find_storage(name, source);
  return read;
}

/// The last argument holds what the bytes do not show: that a tensor is to be read conjugated or
/// negated.
void TorchSaveArchive::check_metadata(std::string_view name, const PickleObject& tensor) const {
  const std::size_t position = tensor.text == "torch._utils._rebuild_tensor_v3" ? 7 : 6;
  if (tensor.children.size() <= position) return;
  const PickleObject& metadata = child(tensor, position);
  if (metadata.kind == PickleKind::none) return;
  if (metadata.kind != PickleKind::dictionary)
    throw error(fmt::format("{} is no plain tensor", quote(name)));
  for (std::size_t index = 0; index < metadata.children.size(); index += 2) {
    if (child(metadata, index + 1).kind == PickleKind::boolean &&
        !child(metadata, index + 1).boolean)
      continue;
    throw error(fmt::format("{} is a conjugated or negated view, which is not read", quote(name)),
                "save `x.resolve_conj().resolve_neg()`");
  }
}

ScalarType TorchSaveArchive::read_dtype(std::string_view name, const PickleObject& tensor) const {
  const std::string_view storage_class = child(child(tensor, 0), 0).text;
  if (tensor.text == "torch._utils._rebuild_tensor_v3") {
    const PickleObject& dtype = child(tensor, 6);
    constexpr std::string_view prefix = "torch.";
    if (dtype.kind == PickleKind::global && dtype.text.starts_with(prefix)) {
      if (const auto found = scalar_type_from_name(dtype.text.substr(prefix.size()))) return *found;
    }
    throw error(fmt::format("{} has no dtype that is known", quote(name)));
  }
  if (const StorageClassRow* row = find_storage_class(storage_class)) return row->dtype;
  throw error(fmt::format("{} has a storage of unknown class {}", quote(name), storage_class));
}

std::vector<std::int64_t> TorchSaveArchive::read_integers(std::string_view name,
                                                          const PickleObject& tuple) const {
  std::vector<std::int64_t> integers;
  for (const std::uint32_t element : tuple.children) {
    const PickleObject& object = pickle_[element];
    // SymInt keeps a band of int64 for itself, all of it negative.
    if (object.kind != PickleKind::integer || object.integer < 0) {
      throw error(fmt::format("{} has a size or stride that is no natural number", quote(name)));
    }
    integers.push_back(object.integer);
    if (integers.size() > max_dimensions)
      throw error(fmt::format("{} has more than {} dimensions", quote(name), max_dimensions));
  }
  return integers;
}

const ZipEntry* TorchSaveArchive::find_storage(std::string_view name,
                                               const PickleObject& storage) const {
  const ZipEntry& entry = zip_.get(fmt::format("{}data/{}", root_, child(storage, 1).text));
  const std::int64_t count = child(storage, 3).integer;
  const StorageClassRow* row = find_storage_class(child(storage, 0).text);
  const std::uint64_t width = row == nullptr ? 1 : element_size(row->dtype);
  if (count < 0 || static_cast<std::uint64_t>(count) > entry.size / width) {
    throw error(fmt::format(
        "the storage of {} has {} elements by the pickle, but its record {} only {} bytes",
        quote(name), count, quote(entry.name), entry.size));
  }
  return &entry;
}

}  // namespace winze
