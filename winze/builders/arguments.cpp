// SPDX-License-Identifier: Apache-2.0
#include "winze/builders/arguments.h"

namespace winze {

void ListBuilderArgument::push_back(const BuilderArgument& element) {
  if (size_ == inline_capacity) spilled_.assign(inline_.begin(), inline_.end());
  if (size_ < inline_capacity) {
    inline_[size_] = element.argument_;
  } else {
    spilled_.push_back(element.argument_);
  }
  ++size_;
}

Argument ListBuilderArgument::in(const Graph& /*graph*/) const {
  if (!is_list_) return argument_;
  if (size_ == 0) return Argument::empty_list();
  return Argument(
      std::span<const Argument>(size_ > inline_capacity ? spilled_.data() : inline_.data(), size_));
}

}  // namespace winze
