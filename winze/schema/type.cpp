// SPDX-License-Identifier: Apache-2.0
#include "winze/schema/type.h"

#include <utility>

#include "winze/schema/type_names.h"
#include "winze/support/diagnostic.h"

namespace winze {

Type::Type(TypeKind kind, std::string name)
    : kind_(kind), detail_(std::make_shared<const Detail>(Detail{std::move(name), {}})) {}

Type::Type(TypeKind kind, std::vector<Type> elements)
    : kind_(kind), detail_(std::make_shared<const Detail>(Detail{{}, std::move(elements)})) {}

Type Type::with(std::uint8_t modifier) const {
  if (modifier_count_ == max_modifiers) {
    fail("type `{}` is nested too deeply: at most {} of `?` and `[]`", str(), max_modifiers);
  }
  Type result = *this;
  result.modifiers_[result.modifier_count_++] = modifier;
  return result;
}

Type Type::optional() const {
  return with(optional_code);
}

Type Type::list() const {
  return with(list_code);
}

Type Type::list(int size) const {
  if (size < 1 || size > max_list_size) {
    fail("list size {} is out of range: 1 to {}", size, max_list_size);
  }
  return with(static_cast<std::uint8_t>(list_code + size));
}

Type Type::without_last() const {
  Type result = *this;
  result.modifiers_[--result.modifier_count_] = 0;
  return result;
}

Type Type::base() const {
  Type result = *this;
  result.modifier_count_ = 0;
  result.modifiers_ = {};
  return result;
}

int Type::list_modifier() const {
  int index = modifier_count_ - 1 - (is_optional() ? 1 : 0);
  return index >= 0 && modifiers_[static_cast<std::size_t>(index)] >= list_code ? index : -1;
}

int Type::list_depth() const {
  int depth = 0;
  for (std::uint8_t i = 0; i < modifier_count_; ++i) depth += modifiers_[i] >= list_code ? 1 : 0;
  return depth;
}

Type Type::element() const {
  WINZE_CHECK(is_list(), "`{}` is no list", str());
  return without_optional().without_last();
}

int Type::list_size() const {
  int index = list_modifier();
  return index < 0 ? 0 : modifiers_[static_cast<std::size_t>(index)] - list_code;
}

std::string_view Type::name() const {
  return detail_ ? std::string_view(detail_->name) : std::string_view();
}

const std::vector<Type>& Type::elements() const {
  static const std::vector<Type> none;
  return detail_ ? detail_->elements : none;
}

std::string Type::str() const {
  std::string out;
  append_to(out, 0, modifier_count_, true);
  return out;
}

void Type::append_to(std::string& out, int first_modifier, int last_modifier,
                     bool with_base) const {
  if (with_base) append_base_to(out);
  for (int i = first_modifier; i < last_modifier; ++i) {
    std::uint8_t modifier = modifiers_[static_cast<std::size_t>(i)];
    if (modifier == optional_code) {
      out += '?';
    } else if (modifier == list_code) {
      out += "[]";
    } else {
      out += fmt::format("[{}]", modifier - list_code);
    }
  }
}

void Type::append_base_to(std::string& out) const {
  switch (kind_) {
    case TypeKind::type_variable:
    case TypeKind::custom_class:
      out += name();
      return;
    case TypeKind::tuple:
    case TypeKind::dict:
    case TypeKind::future:
    case TypeKind::rref:
    case TypeKind::await: {
      out += type_kind_name(kind_);
      out += '(';
      const char* separator = "";
      for (const Type& element : elements()) {
        out += separator;
        element.append_to(out, 0, element.modifier_count_, true);
        separator = ", ";
      }
      out += ')';
      return;
    }
    default:
      out += type_kind_name(kind_);
  }
}

bool operator==(const Type& a, const Type& b) {
  return a.kind_ == b.kind_ && a.modifier_count_ == b.modifier_count_ &&
         a.modifiers_ == b.modifiers_ &&
         (a.detail_ == b.detail_ || (a.name() == b.name() && a.elements() == b.elements()));
}

}  // namespace winze
