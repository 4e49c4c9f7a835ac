// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "winze/schema/op_effects.h"
#include "winze/schema/op_id.h"
#include "winze/schema/schema.h"
#include "winze/schema/tags.h"

namespace winze {

/// One operator overload: schema, tags and the facts that follow from them. Immutable once made.
struct Op {
  OpId id;
  OpId base;  ///< the operator this is a variant of (extra keywords, opaque signatures); else `id`
  OpKind kind = OpKind::overload;
  Tags tags;
  Schema schema;
  OpEffects effects;
  std::string_view qualified_name;  ///< `aten.add.Tensor`, `higher_order.cond`,
                                    ///< `_operator.floordiv`, `math.trunc`
  std::string_view opaque_target;   ///< for opaque operators: the target as the program spells it
  std::string_view tag_text;        ///< the tags as the table has them, those not known included

  /// The spelling in an exported program: `torch.ops.aten.add.Tensor`, `_operator.floordiv`,
  /// `#ns:name`.
  [[nodiscard]] std::string target() const;

  [[nodiscard]] bool is_mutable() const { return effects.writes_anything(); }
  [[nodiscard]] bool is_view() const { return effects.has_view(); }
  [[nodiscard]] bool is_random() const { return effects.is_random; }
  [[nodiscard]] bool is_pure() const { return effects.is_pure(); }
  [[nodiscard]] bool is_higher_order() const { return kind == OpKind::higher_order; }
  [[nodiscard]] bool is_symbolic() const { return kind == OpKind::symbolic; }
  [[nodiscard]] bool is_opaque() const { return kind == OpKind::opaque; }
  [[nodiscard]] bool is_variant() const { return base != id; }
};

}  // namespace winze
