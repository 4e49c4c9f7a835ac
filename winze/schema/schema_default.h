// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "winze/schema/schema.h"
#include "winze/schema/schema_lexer.h"

namespace winze {

/// Reads the default value of an argument of that type.
DefaultValue parse_default(SchemaLexer& lexer, const Type& type);

}  // namespace winze
