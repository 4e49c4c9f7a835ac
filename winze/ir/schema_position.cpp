// SPDX-License-Identifier: Apache-2.0
#include "winze/ir/schema_position.h"

#include <algorithm>

#include "winze/support/diagnostic.h"

namespace winze {

std::vector<Argument> in_schema_position(const Op& op, std::span<const Argument> positional,
                                         std::span<const NamedArgument> keywords) {
  std::vector<Argument> all(positional.begin(), positional.end());
  if (keywords.empty()) return all;
  std::vector<bool> given(std::max(all.size(), op.schema.arguments.size()), false);
  std::fill_n(given.begin(), all.size(), true);
  all.resize(given.size());
  for (const NamedArgument& keyword : keywords) {
    const int index = op.schema.find_argument(keyword.name);
    if (index < 0)
      fail("{} has no argument \"{}\"; its schema is {}", op.qualified_name, keyword.name,
           print_schema(op.schema));
    if (given[static_cast<std::size_t>(index)])
      fail("argument \"{}\" of {} is given twice", keyword.name, op.qualified_name);
    given[static_cast<std::size_t>(index)] = true;
    all[static_cast<std::size_t>(index)] = keyword.argument;
  }
  return all;
}

}  // namespace winze
