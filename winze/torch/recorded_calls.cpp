// SPDX-License-Identifier: Apache-2.0
#include "winze/torch/recorded_calls.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "winze/program/torch_save_archive.h"
#include "winze/support/json_reader.h"
#include "winze/support/quote.h"
#include "winze/support/string_map.h"
#include "winze/torch/npy_reader.h"

namespace winze {
namespace {

/// A view may have gaps; a call with more of them than this is given a tensor without.
constexpr std::int64_t max_spread = 16;

std::vector<std::int64_t> read_integers(JsonValue list) {
  std::vector<std::int64_t> integers;
  for (const JsonValue element : list.array()) integers.push_back(element.int64());
  return integers;
}

/// Elements that strides reach over, or nothing where there are too many, or where some are
/// negative.
std::optional<std::int64_t> extent_of(const HostTensor& tensor,
                                      const std::vector<std::int64_t>& strides) {
  const std::int64_t count = tensor.element_count();
  std::int64_t extent = 1;
  for (std::size_t axis = 0; axis < strides.size(); ++axis) {
    const std::int64_t steps = tensor.sizes[axis] - 1;
    if (strides[axis] < 0 || (steps > 0 && strides[axis] > count * max_spread)) return std::nullopt;
    if (steps > 0) extent += steps * strides[axis];
    if (extent > count * max_spread) return std::nullopt;
  }
  return extent;
}

/// The same elements laid out with other strides.
HostTensor with_strides(const HostTensor& tensor, const std::vector<std::int64_t>& strides) {
  const std::int64_t count = tensor.element_count();
  if (count == 0 || strides == tensor.strides) return tensor;
  const std::optional<std::int64_t> extent = extent_of(tensor, strides);
  if (!extent) return tensor;
  const std::size_t width = element_size(tensor.dtype);
  const Bytes from = contiguous_bytes(tensor);
  std::string to(static_cast<std::size_t>(*extent) * width, '\0');
  std::vector<std::int64_t> index(strides.size(), 0);
  std::int64_t at = 0;
  for (std::size_t done = 0; done < static_cast<std::size_t>(count); ++done) {
    std::memcpy(to.data() + static_cast<std::size_t>(at) * width, from.data() + done * width,
                width);
    for (std::size_t axis = index.size(); axis-- > 0;) {
      at += strides[axis];
      if (++index[axis] < tensor.sizes[axis]) break;
      at -= strides[axis] * tensor.sizes[axis];
      index[axis] = 0;
    }
  }
  HostTensor laid_out = tensor;
  laid_out.strides = strides;
  laid_out.offset = 0;
  laid_out.storage = Bytes::own(std::move(to));
  return laid_out;
}

/// Bytes that several inputs share, by name of the member.
using SharedStorages = StringMap<Bytes>;

/// The elements where they are in a storage that other inputs share.
HostTensor in_shared_storage(JsonValue value, const ZipReader& zip, const HostTensor& tensor,
                             std::vector<std::int64_t> strides, SharedStorages& storages) {
  const JsonValue member = value.get("storage");
  const std::string name(member.string());
  if (storages.find(name) == storages.end()) {
    const ZipEntry* entry = zip.find(name);
    if (entry == nullptr)
      throw member.error(fmt::format("the archive has no member {}", quote(name)));
    storages[name] = read_npy(zip.read(*entry), zip.file_name() + ":" + name).storage;
  }
  HostTensor shared = tensor;
  shared.strides = std::move(strides);
  shared.offset = value.get("storage_offset").int64();
  shared.storage = storages.at(name);
  const SavedTensor place{.dtype = shared.dtype,
                          .offset = shared.offset,
                          .sizes = shared.sizes,
                          .strides = shared.strides};
  if (const auto problem = why_outside_storage(place, shared.storage.size()))
    throw member.error("a tensor does not fit: " + *problem);
  return shared;
}

HostValue read_tensor(JsonValue value, const ZipReader& zip, SharedStorages& storages) {
  const JsonValue member = value.get("npy");
  const ZipEntry* entry = zip.find(member.string());
  if (entry == nullptr) {
    throw member.error(fmt::format("the archive has no member {}", quote(member.string())));
  }
  HostTensor tensor = read_npy(zip.read(*entry), zip.file_name() + ":" + std::string(entry->name));
  const JsonValue dtype_name = value.get("dtype");
  const std::optional<ScalarType> dtype = scalar_type_from_name(dtype_name.string());
  if (!dtype || element_size(*dtype) != element_size(tensor.dtype)) {
    throw dtype_name.error(fmt::format("{} is no dtype for elements of {} bytes",
                                       quote(dtype_name.string()), element_size(tensor.dtype)));
  }
  tensor.dtype = *dtype;
  if (const auto shape = value.find("shape"); shape && read_integers(*shape) != tensor.sizes) {
    throw shape->error(fmt::format("the array has another shape: {}", tensor.type_text()));
  }
  if (const auto strides = value.find("strides")) {
    const std::vector<std::int64_t> wanted = read_integers(*strides);
    if (wanted.size() != tensor.sizes.size())
      throw strides->error("there are not as many strides as sizes");
    if (value.find("storage")) return in_shared_storage(value, zip, tensor, wanted, storages);
    return with_strides(tensor, wanted);
  }
  return tensor;
}

HostValue read_value(JsonValue value, const ZipReader& zip, SharedStorages& storages) {
  const std::string_view kind = value.get("kind").string();
  if (kind == "tensor") return read_tensor(value, zip, storages);
  if (kind == "none") return {};
  const JsonValue held = value.get("value");
  if (kind == "bool") return held.boolean();
  if (kind == "int") return held.int64();
  if (kind == "str") return std::string(held.string());
  if (kind == "float") {
    if (!held.is_string()) return held.real();
    const std::string_view text = held.string();
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (text == "inf") return infinity;
    if (text == "-inf") return -infinity;
    if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
    throw held.error(fmt::format("{} is no float", quote(text)));
  }
  throw value.get("kind").error(fmt::format("{} is no kind of value", quote(kind)));
}

}  // namespace

std::vector<InputCase> read_recorded_calls(const ZipReader& zip) {
  const JsonDocument manifest(
      zip.read(zip.get(recorded_calls_manifest)),
      {.file = zip.file_name(), .record = std::string(recorded_calls_manifest)});
  std::vector<InputCase> cases;
  for (const JsonValue recorded : manifest.root().get("cases").array()) {
    InputCase& read = cases.emplace_back();
    read.name = fmt::format("case{}", cases.size() - 1);
    SharedStorages storages;
    for (const JsonValue value : recorded.get("inputs").array())
      read.values.push_back(read_value(value, zip, storages));
  }
  if (cases.empty()) throw manifest.root().error("no calls are recorded");
  return cases;
}

}  // namespace winze
