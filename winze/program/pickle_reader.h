// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "winze/support/bytes.h"
#include "winze/support/diagnostic.h"

namespace winze {

enum class PickleKind : std::uint8_t {
  none,
  boolean,
  integer,
  real,
  text,
  tuple,       ///< also a list, and torch.Size
  dictionary,  ///< also an OrderedDict; children are keys and values in turn
  global,      ///< a name that may be called or referred to; `text` is `module.name`
  storage,     ///< the children are the storage's class, key, location and number of elements
  tensor,      ///< a rebuilt tensor; the children are the arguments of the rebuilding call
  parameter,   ///< the children are tensor, requires_grad, hooks, and attributes if it has some
  device,
  complex,  ///< the children are the real and the imaginary part
};

struct PickleObject {
  PickleKind kind = PickleKind::none;
  bool boolean = false;
  std::int64_t integer = 0;
  double real = 0;
  std::string_view text;
  std::uint64_t offset = 0;  ///< of the opcode that made it
  std::vector<std::uint32_t> children;
};

/// The objects of a pickle; they refer to each other by index.
struct Pickle {
  std::vector<PickleObject> objects;
  std::uint32_t root = 0;

  [[nodiscard]] const PickleObject& operator[](std::uint32_t index) const { return objects[index]; }
};

/// How errors speak of what is read.
struct PickleOptions {
  std::string_view subject = "the weights";            ///< in the plural
  std::string_view needs = "a dictionary of tensors";  ///< all that the pickle may need
  std::string_view hint =
      "nothing but plain tensors is read from pickles; export again with PyTorch 2.9 or later";
};

/// Reads a pickle that holds plain tensors, numbers, strings and plain containers of them, as
/// torch.save writes it. Knows only the opcodes and the globals that this takes (OrderedDict, the
/// rebuilding of plain tensors and parameters, storage classes, dtypes, devices, complex); of
/// attributes that were set on tensors, nothing is kept. Everything else is an Error that names it
/// and its offset. Imports and executes nothing. Memory is in proportion to the size of the text,
/// which `pickle` must keep alive.
[[nodiscard]] Pickle read_pickle(std::string_view pickle, const Where& where,
                                 const PickleOptions& options = {});

}  // namespace winze
