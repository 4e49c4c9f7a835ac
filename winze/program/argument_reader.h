// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "winze/ir/argument.h"
#include "winze/program/read_session.h"
#include "winze/program/value_scope.h"

namespace winze {

/// Memory for the arguments of the calls that are being read, given back in the order of a stack.
class ArgumentArena {
 public:
  /// So many default arguments; valid until the arena is rewound to an earlier mark.
  std::span<Argument> allocate(std::size_t count);
  struct Mark {
    std::size_t block = 0;
    std::size_t used = 0;
  };
  [[nodiscard]] Mark mark() const { return {block_, used_}; }
  void rewind(Mark mark);

 private:
  struct Block {
    std::unique_ptr<Argument[]> items;
    std::size_t size = 0;
  };
  std::vector<Block> blocks_;
  std::size_t block_ = 0;
  std::size_t used_ = 0;
};

/// The class of a `custom_object` argument that stands for a dictionary of constants; its name is
/// the dictionary's JSON. Export passes such dictionaries to a few higher-order operators.
inline constexpr std::string_view dictionary_class = "builtins.dict";

/// Reads the schema's Argument into the IR's.
class ArgumentReader {
 public:
  /// Reads a nested graph (the value of `as_graph`) and gives the argument for it.
  using ReadGraph = std::function<Argument(JsonValue)>;

  ArgumentReader(ReadSession& session, const ValueScope& scope, ArgumentArena& arena,
                 ReadGraph read_graph)
      : session_(session), scope_(scope), arena_(arena), read_graph_(std::move(read_graph)) {}

  /// Lists are in the arena.
  [[nodiscard]] Argument read(JsonValue argument);

 private:
  [[nodiscard]] Argument read_value(JsonValue name, ValueKind kind);
  [[nodiscard]] Argument read_symbolic(JsonValue value, ValueKind kind);
  [[nodiscard]] Argument read_symbolic_list(JsonValue value, ValueKind kind);
  [[nodiscard]] Argument read_tensors(JsonValue value);
  [[nodiscard]] Argument read_optional_tensor(JsonValue value);
  [[nodiscard]] Argument read_integers(JsonValue value);
  [[nodiscard]] Argument read_floats(JsonValue value);
  [[nodiscard]] Argument read_booleans(JsonValue value);
  [[nodiscard]] Argument read_strings(JsonValue value);
  [[nodiscard]] Argument read_custom_object(JsonValue value);
  [[nodiscard]] Argument read_complex(JsonValue value);
  [[nodiscard]] Argument read_operator(JsonValue value);
  [[nodiscard]] Argument read_dictionary(JsonValue value);
  template <typename ReadElement>
  [[nodiscard]] Argument read_list(JsonValue value, ReadElement read_element);

  ReadSession& session_;
  const ValueScope& scope_;
  ArgumentArena& arena_;
  ReadGraph read_graph_;
};

}  // namespace winze
