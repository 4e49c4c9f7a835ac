// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "winze/ir/ids.h"
#include "winze/program/unknown_members.h"
#include "winze/support/bytes.h"
#include "winze/support/string_map.h"

namespace winze {

/// Index of a Storage in `ExportedProgram::storages`.
using StorageId = Id<struct StorageTag>;

/// The bytes behind one or more weights: the whole untyped storage of a tensor, or an opaque
/// payload. Bytes that came with an archive are a range of the mapped file and are not read.
struct Storage {
  Bytes bytes;
  std::uint64_t size =
      0;  ///< in bytes; `bytes` holds all of them or, in a program without an archive, none
  bool has_bytes = false;              ///< false in a program whose weights are not at hand
  std::optional<std::uint32_t> crc32;  ///< of the bytes, where the archive tells it
  std::string
      record;  ///< name of the record in its folder, such as `weight_3`; empty for new bytes
};

/// What a payload holds.
enum class PayloadKind : std::uint8_t {
  tensor,  ///< raw bytes of a storage, seen through the weight's meta
  opaque,  ///< anything else (a pickled tensor subclass, a script object, an opaque object):
           ///< carried through as it is
};

/// A parameter, buffer, lifted constant or object: a name, what is known of it, and its bytes.
/// Weights that share storage have the same `storage`.
struct Weight {
  std::string fqn;
  PayloadKind kind = PayloadKind::tensor;
  MetaId meta;  ///< of the tensor: its own sizes, strides, offset in elements; invalid where the
                ///< file gives none
  bool is_param = false;    ///< an nn.Parameter
  bool use_pickle = false;  ///< the payload is a pickle
  StorageId storage;
  std::string unknown_fields;  ///< JSON object of the members that this version does not know;
                               ///< empty for none
};

/// Weights by name, in the order of the file.
class WeightTable {
 public:
  [[nodiscard]] const std::vector<Weight>& entries() const { return entries_; }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  [[nodiscard]] bool empty() const { return entries_.empty(); }
  [[nodiscard]] auto begin() const { return entries_.begin(); }
  [[nodiscard]] auto end() const { return entries_.end(); }
  /// The weight of that name, or null. O(1).
  [[nodiscard]] const Weight* find(std::string_view fqn) const;
  [[nodiscard]] Weight* find(std::string_view fqn);
  /// Members of records of the table's JSON (PayloadConfig) that this version does not know, but
  /// for those of the weights themselves (`Weight::unknown_fields`).
  [[nodiscard]] const std::vector<UnknownMembers>& unknown_members() const {
    return unknown_members_;
  }
  void set_unknown_members(std::vector<UnknownMembers> members) {
    unknown_members_ = std::move(members);
  }
  /// Appends a weight; an Error where the name is taken. The reference is valid until the next
  /// edit.
  Weight& add(Weight weight);
  /// Takes out the weights that `unwanted` says, and keeps the order of the others. Returns how
  /// many went. O(weights), however many go.
  std::size_t erase_if(const std::function<bool(const Weight&)>& unwanted);
  void clear();

 private:
  std::vector<Weight> entries_;
  std::vector<UnknownMembers> unknown_members_;
  StringMap<std::uint32_t> by_name_;
};

/// A record of an archive that is carried through: its name below the archive's root folder and its
/// content.
struct ArchiveRecord {
  std::string name;
  Bytes bytes;
  std::optional<std::uint32_t> crc32;
};

}  // namespace winze
