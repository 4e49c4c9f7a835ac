// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "winze/ir/argument.h"
#include "winze/ir/ids.h"
#include "winze/ir/meta.h"
#include "winze/ir/signature.h"
#include "winze/ir/source_info.h"
#include "winze/schema/op_registry.h"
#include "winze/symbolic/symbolic_context.h"

namespace winze {

struct OpSignature;

/// What graphs share and never change: operators, strings, symbolic expressions, metas, constant
/// lists, source infos. All of it is interned, so that equality is an index compare. A context
/// serves one thread at a time and must outlive its graphs.
class Context {
 public:
  Context();
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  [[nodiscard]] OpRegistry& ops() { return ops_; }
  [[nodiscard]] const OpRegistry& ops() const { return ops_; }
  [[nodiscard]] SymbolicContext& symbols() { return symbols_; }
  [[nodiscard]] const SymbolicContext& symbols() const { return symbols_; }

  [[nodiscard]] StringId string(std::string_view text);
  [[nodiscard]] std::string_view text(StringId id) const;

  /// Interns a tensor's meta; sizes and strides are copied.
  [[nodiscard]] MetaId tensor_meta(const TensorMeta& meta);
  [[nodiscard]] MetaId sym_meta(ValueKind kind, SymExpr expression);
  /// A meta of a kind that holds nothing else: `none`, `token`, `constant`, `unknown`, or a sym
  /// kind whose expression is not known.
  [[nodiscard]] MetaId plain_meta(ValueKind kind);
  [[nodiscard]] MetaId custom_object_meta(StringId class_name);
  /// A contiguous strided tensor; the sizes may be symbolic.
  [[nodiscard]] MetaId contiguous_meta(ScalarType dtype, std::span<const SymInt> sizes,
                                       Device device = {});
  [[nodiscard]] const Meta& meta(MetaId id) const;

  [[nodiscard]] Argument complex(double real, double imag);
  [[nodiscard]] Argument string_argument(std::string_view text) {
    return Argument::string(string(text));
  }
  [[nodiscard]] Argument integers(std::span<const std::int64_t> values);
  [[nodiscard]] Argument floats(std::span<const double> values);
  [[nodiscard]] Argument booleans(std::span<const bool> values);
  [[nodiscard]] Argument strings(std::span<const StringId> values);
  [[nodiscard]] Argument custom_object(StringId name, StringId class_name);
  [[nodiscard]] Argument input_spec(const InputSpec& spec);
  [[nodiscard]] Argument output_spec(const OutputSpec& spec);

  [[nodiscard]] std::complex<double> complex_of(const Argument& argument) const;
  [[nodiscard]] std::span<const std::int64_t> integers_of(const Argument& argument) const;
  [[nodiscard]] std::span<const double> floats_of(const Argument& argument) const;
  [[nodiscard]] std::span<const bool> booleans_of(const Argument& argument) const;
  [[nodiscard]] std::span<const StringId> strings_of(const Argument& argument) const;
  struct CustomObject {
    StringId name;
    StringId class_name;
  };
  [[nodiscard]] CustomObject custom_object_of(const Argument& argument) const;
  [[nodiscard]] const InputSpec& input_spec_of(const Argument& argument) const;
  [[nodiscard]] const OutputSpec& output_spec_of(const Argument& argument) const;

  [[nodiscard]] std::uint16_t device_type(std::string_view name);
  [[nodiscard]] std::string_view device_type_name(Device device) const;
  /// Whether tensors on the device have sizes but no bytes.
  [[nodiscard]] bool is_meta(Device device) const { return device_type_name(device) == "meta"; }
  /// `cpu`, `cuda:1`.
  [[nodiscard]] std::string device_text(Device device) const;

  [[nodiscard]] SourceId source(const SourceInfo& info);
  [[nodiscard]] const SourceInfo& source_info(SourceId id) const;
  /// The user's own line, or nothing where the source holds no stack trace.
  [[nodiscard]] std::optional<SourceLine> user_line(SourceId id) const;

  /// What a component above this one keeps for a context, under the address of something of its
  /// own; null until it is set. Lives as long as the context, and may refer to it.
  [[nodiscard]] std::shared_ptr<void>& attachment(const void* key);

  /// An operator's arguments as the graph wants them: defaults as Arguments, allowed kinds. Cached.
  [[nodiscard]] const OpSignature& signature(OpId op);

 private:
  struct Pools;
  [[nodiscard]] MetaId intern(const Meta& meta);

  OpRegistry ops_;
  SymbolicContext symbols_;
  std::unique_ptr<Pools> pools_;
  std::vector<std::pair<const void*, std::shared_ptr<void>>> attachments_;
};

}  // namespace winze
