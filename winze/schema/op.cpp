// SPDX-License-Identifier: Apache-2.0
#include "winze/schema/op.h"

namespace winze {

std::string Op::target() const {
  switch (kind) {
    case OpKind::overload:
    case OpKind::higher_order:
      return "torch.ops." + std::string(qualified_name);
    case OpKind::symbolic:
    case OpKind::function:
      return std::string(qualified_name);
    case OpKind::opaque:
      return std::string(opaque_target);
  }
  return {};
}

}  // namespace winze
