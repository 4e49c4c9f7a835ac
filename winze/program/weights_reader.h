// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "winze/program/archive_layout.h"
#include "winze/program/program.h"
#include "winze/support/diagnostic.h"
#include "winze/support/string_map.h"
#include "winze/support/zip_reader.h"

namespace winze {

/// Reads names, metas and ranges of the weights and constants of a model into `program`, in any of
/// the layouts. No content is read, but that of the pickled dictionaries of torch 2.8 and before.
/// The full names of the records that make up the weights go to `used`.
void read_weights(ExportedProgram& program, const ZipReader& zip, const ArchiveLayout& layout,
                  StringViewSet& used, std::vector<Diagnostic>* warnings);

}  // namespace winze
