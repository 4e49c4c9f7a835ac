// SPDX-License-Identifier: Apache-2.0
#include "winze/torch/torch_value_reader.h"

#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "winze/program/archive_layout.h"
#include "winze/program/torch_save_archive.h"
#include "winze/support/quote.h"
#include "winze/support/string_map.h"

namespace winze {
namespace {

/// A pickle can refer to one list many times over, and even to a list inside itself.
constexpr int max_depth = 64;
constexpr std::size_t max_values = 1'000'000;

constexpr PickleOptions pickle_options = {
    .subject = "the values",
    .needs = "a container of plain tensors",
    .hint =
        "only tensors, numbers, strings, None, tuples, lists and dictionaries are read from "
        "files of inputs"};

class TorchValueReader {
 public:
  explicit TorchValueReader(const TorchSaveArchive& archive) : archive_(archive) {}

  HostValue read(std::uint32_t index, int depth);

 private:
  [[nodiscard]] const PickleObject& object(std::uint32_t index) const {
    return archive_.pickle()[index];
  }
  HostValue read_sequence(const PickleObject& read, int depth);
  HostValue read_tensor(const PickleObject& read);
  Bytes storage_bytes(const SavedTensor& saved);

  const TorchSaveArchive& archive_;
  std::size_t values_ = 0;
  StringViewMap<Bytes> storages_;
};

HostValue TorchValueReader::read(std::uint32_t index, int depth) {
  if (depth > max_depth)
    throw archive_.error(fmt::format("the values are nested more than {} deep", max_depth));
  if (++values_ > max_values)
    throw archive_.error(fmt::format("the file holds more than {} values", max_values));
  const PickleObject& read = object(index);
  switch (read.kind) {
    case PickleKind::none:
      return {};
    case PickleKind::boolean:
      return read.boolean;
    case PickleKind::integer:
      return read.integer;
    case PickleKind::real:
      return read.real;
    case PickleKind::complex:
      return std::complex<double>(object(read.children[0]).real, object(read.children[1]).real);
    case PickleKind::text:
      return std::string(read.text);
    case PickleKind::tuple:
    case PickleKind::dictionary:
      return read_sequence(read, depth);
    case PickleKind::tensor:
      return read_tensor(read);
    case PickleKind::parameter:
      return read_tensor(object(read.children[0]));
    default:
      throw archive_.error(fmt::format("the file holds {}, which is no value that a program takes",
                                       read.text.empty() ? "an object" : quote(read.text)),
                           std::string(pickle_options.hint));
  }
}

HostValue TorchValueReader::read_sequence(const PickleObject& read_from, int depth) {
  HostSequence sequence;
  sequence.kind = read_from.kind == PickleKind::dictionary ? HostSequence::Kind::dictionary
                                                           : HostSequence::Kind::tuple;
  for (std::size_t index = 0; index < read_from.children.size(); ++index) {
    HostValue item = read(read_from.children[index], depth + 1);
    const bool is_key = read_from.kind == PickleKind::dictionary && index % 2 == 0;
    (is_key ? sequence.keys : sequence.items).push_back(std::move(item));
  }
  return sequence;
}

HostValue TorchValueReader::read_tensor(const PickleObject& read_from) {
  SavedTensor saved = archive_.tensor(read_from, "a tensor");
  HostTensor tensor;
  tensor.dtype = saved.dtype;
  tensor.offset = saved.offset;
  tensor.storage = storage_bytes(saved);
  const auto problem = why_outside_storage(saved, tensor.storage.size());
  if (problem) throw archive_.error("a tensor does not fit: " + *problem);
  tensor.sizes = std::move(saved.sizes);
  tensor.strides = std::move(saved.strides);
  return tensor;
}

Bytes TorchValueReader::storage_bytes(const SavedTensor& saved) {
  const auto found = storages_.find(saved.storage_key);
  if (found != storages_.end()) return found->second;
  Bytes bytes = archive_.zip().read(*saved.storage);
  storages_.emplace(saved.storage_key, bytes);
  return bytes;
}

}  // namespace

HostValue read_torch_value(const Bytes& content, const Where& where) {
  const TorchSaveArchive archive(content, where, pickle_options);
  return TorchValueReader(archive).read(archive.pickle().root, 0);
}

}  // namespace winze
