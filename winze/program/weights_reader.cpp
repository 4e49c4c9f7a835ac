// SPDX-License-Identifier: Apache-2.0
#include "winze/program/weights_reader.h"

#include <optional>
#include <string>

#include <fmt/format.h>

#include "winze/program/meta_reader.h"
#include "winze/program/read_session.h"
#include "winze/program/torch_save_reader.h"
#include "winze/support/quote.h"
#include "winze/support/string_map.h"

namespace winze {
namespace {

/// Reads one payload config (the schema's PayloadConfig).
class PayloadReader {
 public:
  PayloadReader(ExportedProgram& program, WeightTable& table, const ZipReader& zip,
                std::string folder, StringViewSet& used, std::vector<Diagnostic>* warnings)
      : program_(program),
        table_(table),
        zip_(zip),
        folder_(std::move(folder)),
        used_(used),
        session_(program, warnings) {}

  void read(const ZipEntry& config);

 private:
  void read_payload(std::string_view fqn, JsonValue value);
  [[nodiscard]] StorageId read_storage(JsonValue path_name);
  void check(const Weight& weight, JsonValue value) const;

  ExportedProgram& program_;
  WeightTable& table_;
  const ZipReader& zip_;
  std::string folder_;
  StringViewSet& used_;
  ReadSession session_;
  StringViewMap<StorageId> storages_;
};

void PayloadReader::read(const ZipEntry& config) {
  used_.insert(config.name);
  Where where;
  where.file = zip_.file_name();
  where.record = config.name;
  const JsonDocument document(zip_.read(config), where);
  std::optional<JsonValue> payloads;
  for (const JsonField field : document.root().object()) {
    if (field.key == "config") {
      payloads = field.value;
    } else {
      session_.unknown_field(document.root(), field);
    }
  }
  for (const JsonField field : required(payloads, document.root(), "config").object()) {
    read_payload(field.key, field.value);
  }
  table_.set_unknown_members(session_.take_unknown(document.root()));
}

void PayloadReader::read_payload(std::string_view fqn, JsonValue value) {
  std::optional<JsonValue> path_name, is_param, use_pickle, tensor_meta;
  UnknownFields unknown;
  for (const JsonField field : value.object()) {
    if (field.key == "path_name") {
      path_name = field.value;
    } else if (field.key == "is_param") {
      is_param = field.value;
    } else if (field.key == "use_pickle") {
      use_pickle = field.value;
    } else if (field.key == "tensor_meta") {
      tensor_meta = field.value;
    } else {
      unknown.add(field);
    }
  }
  Weight weight;
  weight.fqn = fqn;
  weight.is_param = required(is_param, value, "is_param").boolean();
  weight.use_pickle = required(use_pickle, value, "use_pickle").boolean();
  weight.kind = weight.use_pickle ? PayloadKind::opaque : PayloadKind::tensor;
  weight.unknown_fields = unknown.take();
  if (tensor_meta && !tensor_meta->is_null())
    weight.meta = read_tensor_meta(session_, *tensor_meta);
  weight.storage = read_storage(required(path_name, value, "path_name"));
  check(weight, value);
  table_.add(std::move(weight));
}

StorageId PayloadReader::read_storage(JsonValue path_name) {
  const std::string_view path = path_name.string();
  const auto known = storages_.find(path);
  if (known != storages_.end()) return known->second;
  const ZipEntry* entry = zip_.find(folder_ + std::string(path));
  if (entry == nullptr) {
    throw path_name.error(
        fmt::format("the archive has no record {}", shown_name(folder_ + std::string(path))));
  }
  used_.insert(entry->name);
  Storage storage;
  storage.bytes = record_bytes(zip_, *entry);
  storage.size = entry->size;
  storage.has_bytes = true;
  storage.crc32 = entry->crc32;
  storage.record = path;
  const StorageId id = program_.add_storage(std::move(storage));
  storages_.emplace(path, id);
  return id;
}

void PayloadReader::check(const Weight& weight, JsonValue value) const {
  if (weight.kind == PayloadKind::opaque) return;
  if (!weight.meta.valid()) throw value.error("a tensor that is no pickle has no tensor_meta");
  const TensorMeta& meta = program_.context().meta(weight.meta).tensor;
  if (const auto problem = why_not_fitting(program_.storage(weight), meta, weight.fqn))
    throw value.error(*problem);
}

void read_table(ExportedProgram& program, WeightTable& table, const ZipReader& zip,
                const std::string& config_record, const std::string& pickled_record,
                const std::string& folder, StringViewSet& used, std::vector<Diagnostic>* warnings) {
  const ZipEntry* pickled = zip.find(pickled_record);
  const ZipEntry* config = zip.find(config_record);
  if (pickled != nullptr) {
    used.insert(pickled->name);
    Where where;
    where.file = zip.file_name();
    where.record = pickled->name;
    read_torch_save(program, table, record_bytes(zip, *pickled), where);
    return;
  }
  if (config == nullptr) {
    throw zip.error(config_record, "the archive does not have this record, which lists weights");
  }
  PayloadReader(program, table, zip, folder, used, warnings).read(*config);
}

}  // namespace

void read_weights(ExportedProgram& program, const ZipReader& zip, const ArchiveLayout& layout,
                  StringViewSet& used, std::vector<Diagnostic>* warnings) {
  const std::string& model = program.name;
  read_table(program, program.state_dict, zip, layout.weights_config_record(model),
             layout.pickled_weights_record(model), layout.root() + std::string(weights_folder),
             used, warnings);
  read_table(program, program.constants, zip, layout.constants_config_record(model),
             layout.pickled_constants_record(model), layout.root() + std::string(constants_folder),
             used, warnings);
}

}  // namespace winze
