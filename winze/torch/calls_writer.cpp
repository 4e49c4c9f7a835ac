// SPDX-License-Identifier: Apache-2.0
#include "winze/torch/calls_writer.h"

#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <tsl/robin_map.h>

#include "winze/support/diagnostic.h"
#include "winze/support/json_writer.h"
#include "winze/support/zip_writer.h"

namespace winze {
namespace {

/// numpy's type string; integers of the same width stand for dtypes that numpy lacks.
std::string numpy_type(ScalarType dtype) {
  const std::uint32_t size = element_size(dtype);
  const char byte_order = size == 1 ? '|' : '<';
  char kind = 'u';
  if (dtype == ScalarType::bool_) kind = 'b';
  if (dtype == ScalarType::float16 || dtype == ScalarType::float32 || dtype == ScalarType::float64)
    kind = 'f';
  if (dtype == ScalarType::complex64 || dtype == ScalarType::complex128) kind = 'c';
  if (dtype == ScalarType::int8 || dtype == ScalarType::int16 || dtype == ScalarType::int32 ||
      dtype == ScalarType::int64)
    kind = 'i';
  return fmt::format("{}{}{}", byte_order, kind, size);
}

class CallsWriter {
 public:
  explicit CallsWriter(ByteSink& sink) : zip_(sink), json_(manifest_) {}

  void run(const std::vector<RecordedCall>& calls) {
    json_.begin_object();
    json_.plain_key("format");
    json_.string("corpus-cases-1");
    json_.plain_key("cases");
    json_.begin_array();
    for (std::size_t i = 0; i < calls.size(); ++i) add_call(fmt::format("case{}", i), calls[i]);
    json_.end_array();
    json_.end_object();
    zip_.add("manifest.json", manifest_ + "\n");
    zip_.finish();
  }

 private:
  void add_call(const std::string& stem, const RecordedCall& call) {
    json_.begin_object();
    json_.plain_key("inputs");
    count_storages(stem, call.inputs);
    add_list(stem + "/in/", call.inputs);
    shared_.clear();
    json_.plain_key("outputs");
    add_list(stem + "/out/", call.outputs);
    json_.plain_key("inputs_after");
    json_.begin_object();
    for (const auto& [index, value] : call.inputs_after) {
      json_.key(std::to_string(index));
      add_value(fmt::format("{}/in_after/{}", stem, index), call.inputs[index].first, value);
    }
    json_.end_object();
    json_.plain_key("buffers_after");
    json_.begin_object();
    for (const auto& [name, value] : call.buffers_after) {
      json_.key(name);
      add_value(fmt::format("{}/buffers_after/{}", stem, name), name, value);
    }
    json_.end_object();
    json_.end_object();
  }

  /// What is to be known of a storage that several inputs share.
  struct SharedStorage {
    std::string member;
    bool is_written = false;
  };

  /// Finds the storages that several of the values share.
  void count_storages(const std::string& stem,
                      const std::vector<std::pair<std::string, HostValue>>& values) {
    tsl::robin_map<const std::byte*, std::size_t> counts;
    for (const auto& [name, value] : values) {
      const HostTensor* tensor = value.tensor();
      if (tensor == nullptr || tensor->element_count() == 0) continue;
      if (++counts[tensor->storage.data()] == 2) {
        const std::string member = fmt::format("{}/storage/{}.npy", stem, shared_.size());
        shared_[tensor->storage.data()] = {.member = member};
      }
    }
  }

  void add_shared_storage(const HostTensor& tensor) {
    if (tensor.element_count() == 0) return;
    const auto found = shared_.find(tensor.storage.data());
    if (found == shared_.end()) return;
    SharedStorage& shared = found.value();
    json_.plain_key("storage");
    json_.string(shared.member);
    json_.plain_key("storage_offset");
    json_.integer(tensor.offset);
    if (shared.is_written) return;
    shared.is_written = true;
    zip_.add(shared.member,
             npy_file(contiguous_tensor(ScalarType::uint8,
                                        {static_cast<std::int64_t>(tensor.storage.size())},
                                        std::string(tensor.storage.string_view()))));
  }

  void add_list(const std::string& stem,
                const std::vector<std::pair<std::string, HostValue>>& values) {
    json_.begin_array();
    for (std::size_t i = 0; i < values.size(); ++i)
      add_value(stem + std::to_string(i), values[i].first, values[i].second);
    json_.end_array();
  }

  void add_value(const std::string& member, const std::string& name, const HostValue& value) {
    json_.begin_object();
    json_.plain_key("name");
    name.empty() ? json_.null() : json_.string(name);
    json_.plain_key("kind");
    if (const HostTensor* tensor = value.tensor()) {
      add_tensor(member + ".npy", *tensor);
    } else {
      add_scalar(value);
    }
    json_.end_object();
  }

  void add_tensor(const std::string& member, const HostTensor& tensor) {
    json_.string("tensor");
    json_.plain_key("npy");
    json_.string(member);
    json_.plain_key("dtype");
    json_.string(full_name(tensor.dtype));
    json_.plain_key("shape");
    add_integers(tensor.sizes);
    json_.plain_key("strides");
    add_integers(tensor.strides);
    add_shared_storage(tensor);
    zip_.add(member, npy_file(tensor));
  }

  void add_integers(const std::vector<std::int64_t>& values) {
    json_.begin_array();
    for (std::int64_t value : values) json_.integer(value);
    json_.end_array();
  }

  void add_scalar(const HostValue& value) {
    const auto put = [&](std::string_view kind) {
      json_.string(kind);
      json_.plain_key("value");
    };
    if (value.is_none()) {
      put("none");
      json_.null();
    } else if (const bool* boolean = std::get_if<bool>(&value.content)) {
      put("bool");
      json_.boolean(*boolean);
    } else if (const std::int64_t* integer = std::get_if<std::int64_t>(&value.content)) {
      put("int");
      json_.integer(*integer);
    } else if (const double* real = std::get_if<double>(&value.content)) {
      put("float");
      if (std::isfinite(*real)) {
        json_.real(*real);
      } else {
        json_.string(std::isnan(*real) ? "nan" : (*real > 0 ? "inf" : "-inf"));
      }
    } else if (const std::string* text = std::get_if<std::string>(&value.content)) {
      put("str");
      json_.string(*text);
    } else {
      put("other");
      json_.string(value.type_text());
    }
  }

  tsl::robin_map<const std::byte*, SharedStorage> shared_;  ///< of the inputs of one call
  ZipWriter zip_;
  std::string manifest_;
  JsonWriter json_;
};

}  // namespace

std::string npy_file(const HostTensor& tensor) {
  std::string shape;
  for (std::int64_t size : tensor.sizes) shape += fmt::format("{}, ", size);
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}",
                                   numpy_type(tensor.dtype), shape);
  constexpr std::size_t preamble = 10;
  header.append(63 - (preamble + header.size()) % 64, ' ');
  header += '\n';
  std::string file("\x93NUMPY\x01\x00", 8);
  file += static_cast<char>(header.size() & 0xFF);
  file += static_cast<char>(header.size() >> 8);
  file += header;
  file += contiguous_bytes(tensor).string_view();
  return file;
}

void write_calls(const std::vector<RecordedCall>& calls, ByteSink& sink) {
  CallsWriter(sink).run(calls);
}

}  // namespace winze
