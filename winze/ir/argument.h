// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <complex>
#include <cstdint>
#include <span>
#include <string_view>

#include "winze/ir/dtype.h"
#include "winze/ir/ids.h"
#include "winze/schema/op_id.h"

namespace winze {

class Value;

enum class ArgumentKind : std::uint8_t {
  default_value,  ///< equal to the schema's default; the one spelling of it
  none,
  value,
  integer,
  floating,
  boolean,
  string,
  complex,  ///< interned pair
  dtype,
  layout,
  memory_format,
  device,
  integers,  ///< interned constant list; the empty list is `list`
  floats,
  booleans,
  strings,
  list,           ///< elements of any kind, in slots
  graph,          ///< nested graph
  op,             ///< an operator passed as an argument
  custom_object,  ///< interned name and class
  input_spec,     ///< interned InputSpec of a placeholder
  output_spec,    ///< interned OutputSpec of a returned value
};

/// How deep lists may nest in an argument.
inline constexpr int max_list_depth = 64;

/// One argument of a call: a value or an attribute. A small plain value; lists refer to memory of
/// the caller (when passed in) or to slots of a graph (when read from a node).
class Argument {
 public:
  constexpr Argument() = default;  ///< `default_value`
  Argument(const Value& value);    // NOLINT(google-explicit-constructor): calls read as in torch.fx
  constexpr Argument(int value) : Argument(static_cast<std::int64_t>(value)) {}
  constexpr Argument(std::int64_t value)
      : kind_(ArgumentKind::integer), payload_(static_cast<std::uint64_t>(value)) {}
  constexpr Argument(double value)
      : kind_(ArgumentKind::floating), payload_(std::bit_cast<std::uint64_t>(value)) {}
  constexpr Argument(bool value) : kind_(ArgumentKind::boolean), payload_(value ? 1 : 0) {}
  constexpr Argument(ScalarType value)
      : kind_(ArgumentKind::dtype), payload_(static_cast<std::uint64_t>(value)) {}
  constexpr Argument(Layout value)
      : kind_(ArgumentKind::layout), payload_(static_cast<std::uint64_t>(value)) {}
  constexpr Argument(MemoryFormat value)
      : kind_(ArgumentKind::memory_format), payload_(static_cast<std::uint64_t>(value)) {}
  constexpr Argument(Device value)
      : kind_(ArgumentKind::device),
        payload_(static_cast<std::uint64_t>(value.type) << 16 |
                 static_cast<std::uint16_t>(value.index)) {}
  /// A list of arguments, which must outlive the call they are passed to.
  Argument(std::span<const Argument> elements)
      : kind_(ArgumentKind::list),
        external_(true),
        count_(static_cast<std::uint32_t>(elements.size())),
        payload_(reinterpret_cast<std::uintptr_t>(elements.data())) {}

  /// The one spelling of a list without elements.
  static constexpr Argument empty_list() { return slots(SlotId{}, 0); }
  static constexpr Argument none() { return Argument(ArgumentKind::none, 0); }
  static constexpr Argument default_value() { return Argument(); }
  /// `graph_serial` lets the graph see that the value is one of its own (Graph::serial); 0 is not
  /// checked.
  static constexpr Argument of_value(ValueId id, std::uint32_t graph_serial = 0) {
    Argument argument(ArgumentKind::value, id.index);
    argument.count_ = graph_serial;
    return argument;
  }
  static constexpr Argument string(StringId id) { return Argument(ArgumentKind::string, id.index); }
  static constexpr Argument of_op(OpId op) { return Argument(ArgumentKind::op, op.index); }
  static constexpr Argument graph(GraphId id) { return Argument(ArgumentKind::graph, id.index); }
  /// An interned attribute: `complex`, constant lists, `custom_object`, specs.
  static constexpr Argument interned(ArgumentKind kind, AttributeId id) {
    return Argument(kind, id.index);
  }
  /// A list in `count` consecutive slots of a graph.
  static constexpr Argument slots(SlotId first, std::uint32_t count) {
    Argument argument(ArgumentKind::list, first.index);
    argument.count_ = count;
    return argument;
  }
  static constexpr Argument from_bits(ArgumentKind kind, std::uint64_t payload) {
    return Argument(kind, payload);
  }

  [[nodiscard]] constexpr ArgumentKind kind() const { return kind_; }
  [[nodiscard]] constexpr bool is_default() const { return kind_ == ArgumentKind::default_value; }
  [[nodiscard]] constexpr bool is_none() const { return kind_ == ArgumentKind::none; }
  [[nodiscard]] constexpr bool is_value() const { return kind_ == ArgumentKind::value; }
  [[nodiscard]] constexpr bool is_list() const { return kind_ == ArgumentKind::list; }
  [[nodiscard]] constexpr ValueId value_id() const { return ValueId{low()}; }
  [[nodiscard]] constexpr std::int64_t integer() const {
    return static_cast<std::int64_t>(payload_);
  }
  [[nodiscard]] constexpr double floating() const { return std::bit_cast<double>(payload_); }
  [[nodiscard]] constexpr bool boolean() const { return payload_ != 0; }
  [[nodiscard]] constexpr StringId string_id() const { return StringId{low()}; }
  [[nodiscard]] constexpr ScalarType dtype() const { return static_cast<ScalarType>(payload_); }
  [[nodiscard]] constexpr Layout layout() const { return static_cast<Layout>(payload_); }
  [[nodiscard]] constexpr MemoryFormat memory_format() const {
    return static_cast<MemoryFormat>(payload_);
  }
  [[nodiscard]] constexpr Device device() const {
    return {static_cast<std::uint16_t>(payload_ >> 16),
            static_cast<std::int16_t>(payload_ & 0xFFFF)};
  }
  [[nodiscard]] constexpr OpId op() const { return OpId{low()}; }
  [[nodiscard]] constexpr GraphId graph_id() const { return GraphId{low()}; }
  [[nodiscard]] constexpr AttributeId attribute() const { return AttributeId{low()}; }
  /// First slot of a list read from a node.
  [[nodiscard]] constexpr SlotId first_slot() const { return SlotId{low()}; }
  /// Number of elements of a `list`.
  [[nodiscard]] constexpr std::uint32_t count() const { return count_; }
  /// True for a list in the caller's memory.
  [[nodiscard]] constexpr bool is_external() const { return external_; }
  /// Elements of a list in the caller's memory.
  [[nodiscard]] std::span<const Argument> external_elements() const {
    return {std::bit_cast<const Argument*>(static_cast<std::uintptr_t>(payload_)), count_};
  }
  [[nodiscard]] constexpr std::uint64_t bits() const { return payload_; }

  /// For a value made from a handle: the serial number of its graph, else 0.
  [[nodiscard]] constexpr std::uint32_t graph_serial() const { return count_; }

  /// Same kind and same bits: for attributes this is equality (they are interned), for lists
  /// identity.
  constexpr bool operator==(const Argument& other) const {
    return kind_ == other.kind_ && payload_ == other.payload_ &&
           (kind_ != ArgumentKind::list || count_ == other.count_);
  }

 private:
  constexpr Argument(ArgumentKind kind, std::uint64_t payload) : kind_(kind), payload_(payload) {}
  [[nodiscard]] constexpr std::uint32_t low() const { return static_cast<std::uint32_t>(payload_); }

  ArgumentKind kind_ = ArgumentKind::default_value;
  bool external_ = false;
  std::uint32_t count_ = 0;
  std::uint64_t payload_ = 0;
};

/// An argument given by keyword.
struct NamedArgument {
  std::string_view name;
  Argument argument;
};

}  // namespace winze
