// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "winze/ir/context.h"
#include "winze/program/program.h"
#include "winze/support/bytes.h"
#include "winze/support/diagnostic.h"

namespace winze {

/// Reads a file of torch.save that holds a dictionary of plain tensors, as torch 2.7 and 2.8 put
/// weights into an archive, and adds each as a weight to `table`, its storages to `program`.
/// `where` gives file and record for errors. No content of a tensor is read. Tensors that share
/// storage share a Storage.
void read_torch_save(ExportedProgram& program, WeightTable& table, const Bytes& content,
                     const Where& where);

}  // namespace winze
