// SPDX-License-Identifier: Apache-2.0
#include "winze/program/weights_writer.h"

#include <fmt/format.h>

#include "winze/support/json_writer.h"
#include "winze/support/quote.h"
#include "winze/support/string_map.h"

namespace winze {

WeightsWriter::WeightsWriter(const ExportedProgram& program, const WeightTable& table,
                             std::string root, std::string folder, std::string prefix,
                             const StringViewSet& taken)
    : program_(program),
      table_(table),
      root_(std::move(root)),
      folder_(std::move(folder)),
      prefix_(std::move(prefix)),
      taken_(taken) {
  // Names that storages came with first, so that no new one takes them.
  for (const Weight& weight : table_) {
    if (weight.storage.valid()) names_.insert(program_.storage(weight).record);
  }
  for (const Weight& weight : table_) payload_of_.push_back(add_payload(weight));
}

std::uint32_t WeightsWriter::add_payload(const Weight& weight) {
  if (!weight.storage.valid() || !program_.storage(weight).has_bytes) {
    throw Error(fmt::format("weight {} has no bytes: the archive that holds them is not at hand",
                            quote(weight.fqn)),
                "give the archive with the weights (--weights FILE)");
  }
  std::uint64_t dtype = 0;
  if (weight.kind == PayloadKind::tensor) {
    dtype = static_cast<std::uint64_t>(program_.context().meta(weight.meta).tensor.dtype) + 1;
  }
  const std::uint64_t key = std::uint64_t{weight.storage.index} << 16U | dtype;
  const auto [found, inserted] =
      by_storage_.emplace(key, static_cast<std::uint32_t>(payloads_.size()));
  if (!inserted) return found->second;
  const std::uint64_t any_dtype = std::uint64_t{weight.storage.index} << 16U | 0xFFFFU;
  const bool is_first = by_storage_.emplace(any_dtype, 0).second;
  const Storage& storage = program_.storage(weight);
  payloads_.push_back({weight.storage, is_first ? choose_name(storage) : choose_name(Storage())});
  return static_cast<std::uint32_t>(payloads_.size() - 1);
}

std::string WeightsWriter::choose_name(const Storage& storage) {
  const auto is_taken = [&](std::string_view name) {
    return taken_.contains(fmt::format("{}{}", folder_, name));
  };
  if (!storage.record.empty() && !is_taken(storage.record)) return storage.record;
  while (true) {
    std::string name = fmt::format("{}{}", prefix_, next_number_++);
    if (is_taken(name) || !names_.insert(name).second) continue;
    return name;
  }
}

void WeightsWriter::write_payloads(ZipWriter& zip) const {
  for (const Payload& payload : payloads_) {
    const Storage& storage = program_.storages[payload.storage.index];
    const std::string name = fmt::format("{}{}{}", root_, folder_, payload.record);
    if (storage.crc32) {
      zip.add_unchanged(name, storage.bytes, *storage.crc32);
    } else {
      zip.add(name, storage.bytes);
    }
  }
}

std::string WeightsWriter::config(WriteSession& session) const {
  std::string json;
  JsonWriter writer(json);
  writer.begin_object();
  writer.plain_key("config");
  writer.begin_object();
  for (std::size_t index = 0; index < table_.size(); ++index) {
    const Weight& weight = table_.entries()[index];
    writer.key(weight.fqn);
    writer.begin_object();
    writer.plain_key("path_name");
    writer.string(payloads_[payload_of_[index]].record);
    writer.plain_key("is_param");
    writer.boolean(weight.is_param);
    writer.plain_key("use_pickle");
    writer.boolean(weight.use_pickle);
    writer.plain_key("tensor_meta");
    if (weight.meta.valid()) {
      writer.raw(session.metas.tensor_meta(weight.meta));
    } else {
      writer.null();
    }
    session.write_unknown_fields(writer, weight.unknown_fields);
    writer.end_object();
  }
  writer.end_object();
  writer.end_object();
  return session.put_back(std::move(json), table_.unknown_members());
}

}  // namespace winze
