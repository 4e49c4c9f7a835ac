// SPDX-License-Identifier: Apache-2.0
#include "winze/program/pickle_reader.h"

#include <algorithm>
#include <bit>
#include <string>

#include <fmt/format.h>

#include "winze/program/pickle_globals.h"
#include "winze/support/integer_map.h"
#include "winze/support/quote.h"
#include "winze/support/utf8.h"

namespace winze {
namespace {

/// An opcode of one byte may make an object of some 80 bytes; 150,000 tensors take about 30 MB.
constexpr std::size_t max_pickle_size = std::size_t{32} << 20U;

constexpr std::uint32_t mark_object = 0xFFFFFFFFu;

/// The machine of a pickle: a stack and a memo of object indices.
class PickleMachine {
 public:
  PickleMachine(std::string_view text, const Where& where, const PickleOptions& options,
                Pickle& pickle)
      : text_(text), where_(where), options_(options), pickle_(pickle) {}

  void run();

 private:
  [[noreturn]] void fail_at(std::uint64_t offset, std::string message, std::string hint = {}) const;
  [[nodiscard]] std::string_view take(std::uint64_t size);
  [[nodiscard]] std::uint64_t unsigned_number(unsigned size);
  [[nodiscard]] std::string_view line();

  bool step();
  bool step_constant(unsigned char opcode);
  bool step_text(unsigned char opcode);
  bool step_memo(unsigned char opcode);
  bool step_container(unsigned char opcode);
  bool step_object(unsigned char opcode);

  PickleObject& push_new(PickleKind kind);
  void push(std::uint32_t object) { stack_.push_back(object); }
  std::uint32_t pop();
  [[nodiscard]] std::uint32_t top() const;
  [[nodiscard]] std::vector<std::uint32_t> pop_to_mark();
  void push_tuple(std::size_t count);
  void push_text(std::string_view text);
  void push_long(std::string_view bytes);
  void push_global(std::string_view module, std::string_view name);
  void set_items(const std::vector<std::uint32_t>& items);
  void append(const std::vector<std::uint32_t>& items);
  void reduce();
  void call(std::uint32_t callee, std::uint32_t arguments);
  void call_and_set_class(const std::vector<std::uint32_t>& arguments);
  void load_storage();
  void put(std::uint64_t slot);
  void get(std::uint64_t slot);

  std::string_view text_;
  const Where& where_;
  const PickleOptions& options_;
  Pickle& pickle_;
  std::uint64_t at_ = 0;
  std::uint64_t opcode_at_ = 0;
  std::vector<std::uint32_t> stack_;
  IntegerMap<std::uint32_t> memo_;
};

void PickleMachine::fail_at(std::uint64_t offset, std::string message, std::string hint) const {
  Diagnostic diagnostic;
  diagnostic.message = fmt::format("{}, at byte {} of the pickle", message, offset);
  diagnostic.where = where_;
  diagnostic.hint = std::move(hint);
  throw Error(std::move(diagnostic));
}

std::string_view PickleMachine::take(std::uint64_t size) {
  if (size > text_.size() - at_) fail_at(opcode_at_, "the pickle ends in the middle of an opcode");
  const std::string_view taken = text_.substr(at_, size);
  at_ += size;
  return taken;
}

std::uint64_t PickleMachine::unsigned_number(unsigned size) {
  const std::string_view bytes = take(size);
  std::uint64_t number = 0;
  for (unsigned index = size; index-- > 0;)
    number = number << 8U | static_cast<unsigned char>(bytes[index]);
  return number;
}

std::string_view PickleMachine::line() {
  const std::size_t end = text_.find('\n', at_);
  if (end == std::string_view::npos)
    fail_at(opcode_at_, "the pickle ends in the middle of an opcode");
  const std::string_view found = text_.substr(at_, end - at_);
  at_ = end + 1;
  return found;
}

void PickleMachine::run() {
  if (text_.size() > max_pickle_size) {
    fail_at(0, fmt::format("the pickle has {} bytes; at most {} are read", text_.size(),
                           max_pickle_size));
  }
  while (step()) {
  }
}

bool PickleMachine::step() {
  opcode_at_ = at_;
  const auto opcode = static_cast<unsigned char>(take(1)[0]);
  if (opcode == '.') {
    pickle_.root = pop();
    if (!stack_.empty()) fail_at(opcode_at_, "the pickle ends with objects left over");
    return false;
  }
  if (step_constant(opcode) || step_text(opcode) || step_memo(opcode) || step_container(opcode) ||
      step_object(opcode)) {
    return true;
  }
  const std::string shown = opcode >= 0x20 && opcode < 0x7F
                                ? fmt::format("'{}'", static_cast<char>(opcode))
                                : fmt::format("0x{:02x}", opcode);
  fail_at(
      opcode_at_,
      fmt::format("the pickle has the opcode {}, which {} does not need", shown, options_.needs),
      std::string(options_.hint));
}

bool PickleMachine::step_constant(unsigned char opcode) {
  switch (opcode) {
    case 0x80:  // PROTO
      if (unsigned_number(1) > 5) fail_at(opcode_at_, "the protocol of the pickle is newer than 5");
      return true;
    case 0x95:  // FRAME
      if (unsigned_number(8) > text_.size() - at_)
        fail_at(opcode_at_, "a frame of the pickle is longer than the pickle");
      return true;
    case 'N':
      push_new(PickleKind::none);
      return true;
    case 0x88:  // NEWTRUE
    case 0x89:  // NEWFALSE
      push_new(PickleKind::boolean).boolean = opcode == 0x88;
      return true;
    case 'K':  // BININT1
    case 'M':  // BININT2
      push_new(PickleKind::integer).integer =
          static_cast<std::int64_t>(unsigned_number(opcode == 'K' ? 1 : 2));
      return true;
    case 'J':  // BININT
      push_new(PickleKind::integer).integer = static_cast<std::int32_t>(unsigned_number(4));
      return true;
    case 0x8A:  // LONG1
      push_long(take(unsigned_number(1)));
      return true;
    case 'G': {  // BINFLOAT, big-endian
      const std::string_view bytes = take(8);
      std::uint64_t bits = 0;
      for (const char byte : bytes) bits = bits << 8U | static_cast<unsigned char>(byte);
      push_new(PickleKind::real).real = std::bit_cast<double>(bits);
      return true;
    }
    default:
      return false;
  }
}

bool PickleMachine::step_text(unsigned char opcode) {
  switch (opcode) {
    case 'X':  // BINUNICODE
      push_text(take(unsigned_number(4)));
      return true;
    case 0x8C:  // SHORT_BINUNICODE
      push_text(take(unsigned_number(1)));
      return true;
    case 0x8D:  // BINUNICODE8
      push_text(take(unsigned_number(8)));
      return true;
    default:
      return false;
  }
}

bool PickleMachine::step_memo(unsigned char opcode) {
  switch (opcode) {
    case 'q':  // BINPUT
      put(unsigned_number(1));
      return true;
    case 'r':  // LONG_BINPUT
      put(unsigned_number(4));
      return true;
    case 0x94:  // MEMOIZE
      put(memo_.size());
      return true;
    case 'h':  // BINGET
      get(unsigned_number(1));
      return true;
    case 'j':  // LONG_BINGET
      get(unsigned_number(4));
      return true;
    default:
      return false;
  }
}

bool PickleMachine::step_container(unsigned char opcode) {
  switch (opcode) {
    case '(':  // MARK
      push(mark_object);
      return true;
    case '}':
      push_new(PickleKind::dictionary);
      return true;
    case ']':
    case ')':
      push_new(PickleKind::tuple);
      return true;
    case 't': {  // TUPLE
      std::vector<std::uint32_t> items = pop_to_mark();
      push_new(PickleKind::tuple).children = std::move(items);
      return true;
    }
    case 0x85:  // TUPLE1
    case 0x86:
    case 0x87:
      push_tuple(opcode - std::size_t{0x84});
      return true;
    case 's': {  // SETITEM
      const std::uint32_t value = pop();
      const std::uint32_t key = pop();
      set_items({key, value});
      return true;
    }
    case 'u':  // SETITEMS
      set_items(pop_to_mark());
      return true;
    case 'a':  // APPEND
      append({pop()});
      return true;
    case 'e':  // APPENDS
      append(pop_to_mark());
      return true;
    default:
      return false;
  }
}

bool PickleMachine::step_object(unsigned char opcode) {
  switch (opcode) {
    case 'c': {  // GLOBAL
      const std::string_view module = line();
      push_global(module, line());
      return true;
    }
    case 0x93: {  // STACK_GLOBAL
      const std::uint32_t name = pop();
      const std::uint32_t module = pop();
      if (pickle_[name].kind != PickleKind::text || pickle_[module].kind != PickleKind::text) {
        fail_at(opcode_at_, "the name of a global is no string");
      }
      push_global(pickle_[module].text, pickle_[name].text);
      return true;
    }
    case 'Q':  // BINPERSID
      load_storage();
      return true;
    case 'R':  // REDUCE
      reduce();
      return true;
    case 'b': {  // BUILD: attributes of an OrderedDict, such as a state dict's _metadata; not
                 // needed
      pop();
      if (pickle_[top()].kind != PickleKind::dictionary) {
        fail_at(opcode_at_, "the pickle sets the state of an object that is no dictionary");
      }
      return true;
    }
    default:
      return false;
  }
}

PickleObject& PickleMachine::push_new(PickleKind kind) {
  push(static_cast<std::uint32_t>(pickle_.objects.size()));
  PickleObject& object = pickle_.objects.emplace_back();
  object.kind = kind;
  object.offset = opcode_at_;
  return object;
}

std::uint32_t PickleMachine::pop() {
  const std::uint32_t object = top();
  stack_.pop_back();
  return object;
}

std::uint32_t PickleMachine::top() const {
  if (stack_.empty() || stack_.back() == mark_object)
    fail_at(opcode_at_, "an opcode finds nothing on the stack");
  return stack_.back();
}

std::vector<std::uint32_t> PickleMachine::pop_to_mark() {
  const auto mark = std::find(stack_.rbegin(), stack_.rend(), mark_object);
  if (mark == stack_.rend()) fail_at(opcode_at_, "an opcode finds no mark on the stack");
  const std::vector<std::uint32_t> items(mark.base(), stack_.end());
  stack_.erase(mark.base() - 1, stack_.end());
  return items;
}

void PickleMachine::push_tuple(std::size_t count) {
  std::vector<std::uint32_t> items(count);
  for (std::size_t index = count; index-- > 0;) items[index] = pop();
  push_new(PickleKind::tuple).children = std::move(items);
}

void PickleMachine::push_text(std::string_view text) {
  if (valid_utf8_size(text) != text.size())
    fail_at(opcode_at_, "a string of the pickle is not UTF-8");
  push_new(PickleKind::text).text = text;
}

void PickleMachine::push_long(std::string_view bytes) {
  if (bytes.size() > 8) fail_at(opcode_at_, "an integer of the pickle has more than 64 bits");
  std::uint64_t number = !bytes.empty() && (static_cast<unsigned char>(bytes.back()) & 0x80U) != 0
                             ? ~std::uint64_t{0}
                             : 0;
  for (std::size_t index = bytes.size(); index-- > 0;) {
    number = number << 8U | static_cast<unsigned char>(bytes[index]);
  }
  push_new(PickleKind::integer).integer = static_cast<std::int64_t>(number);
}

void PickleMachine::push_global(std::string_view module, std::string_view name) {
  if (const auto known = find_pickle_global(module, name)) {
    push_new(PickleKind::global).text = *known;
    return;
  }
  constexpr std::size_t longest = 100;
  fail_at(
      opcode_at_,
      fmt::format("the pickle refers to {}, which {} does not need",
                  quote(fmt::format("{}.{}", module.substr(0, longest), name.substr(0, longest))),
                  options_.needs),
      std::string(options_.hint));
}

void PickleMachine::set_items(const std::vector<std::uint32_t>& items) {
  PickleObject& dictionary = pickle_.objects[top()];
  if (dictionary.kind != PickleKind::dictionary)
    fail_at(opcode_at_, "items are set on what is no dictionary");
  if (items.size() % 2 != 0) fail_at(opcode_at_, "a key of a dictionary has no value");
  dictionary.children.insert(dictionary.children.end(), items.begin(), items.end());
}

void PickleMachine::append(const std::vector<std::uint32_t>& items) {
  PickleObject& list = pickle_.objects[top()];
  if (list.kind != PickleKind::tuple) fail_at(opcode_at_, "items are appended to what is no list");
  list.children.insert(list.children.end(), items.begin(), items.end());
}

void PickleMachine::reduce() {
  const std::uint32_t arguments = pop();
  call(pop(), arguments);
}

void PickleMachine::call(std::uint32_t callee, std::uint32_t arguments) {
  if (pickle_[arguments].kind != PickleKind::tuple)
    fail_at(opcode_at_, "the arguments of a call are no tuple");
  if (pickle_[callee].kind != PickleKind::global)
    fail_at(opcode_at_, "the pickle calls what is no global");
  const std::string_view name = pickle_[callee].text;
  const PickleCall* const row = find_pickle_call(name);
  if (row == nullptr)
    fail_at(opcode_at_, fmt::format("the pickle calls {}, which is no function", name));
  std::vector<std::uint32_t> children = pickle_[arguments].children;
  if (children.size() < row->min_arguments || children.size() > row->max_arguments) {
    fail_at(opcode_at_,
            fmt::format("the pickle calls {} with {} arguments", name, children.size()));
  }
  if (name == pickle_rebuild_from_type) return call_and_set_class(children);
  if (row->result == PickleKind::tuple) {
    if (pickle_[children[0]].kind != PickleKind::tuple)
      fail_at(opcode_at_, "a torch.Size is made of what is no tuple");
    push(children[0]);
    return;
  }
  if (row->result == PickleKind::complex) {
    for (const std::uint32_t part : children) {
      if (pickle_[part].kind != PickleKind::real)
        fail_at(opcode_at_, "a complex number is made of what is no float");
    }
  }
  PickleObject& object = push_new(row->result);
  object.children = std::move(children);
  object.text = name;
}

/// Only plain tensors are read, so that the class adds nothing; the attributes are let go.
void PickleMachine::call_and_set_class(const std::vector<std::uint32_t>& arguments) {
  const PickleObject& callee = pickle_[arguments[0]];
  if (callee.kind == PickleKind::global && callee.text == pickle_rebuild_from_type)
    fail_at(opcode_at_, "the pickle gives a tensor a class twice");
  const PickleObject& wanted = pickle_[arguments[1]];
  if (wanted.kind != PickleKind::global || wanted.text != pickle_tensor_class)
    fail_at(opcode_at_, "the pickle gives a tensor a class that is not torch.Tensor");
  call(arguments[0], arguments[2]);
}

/// A persistent id is `('storage', class, key, location, number of elements)`.
void PickleMachine::load_storage() {
  const std::uint32_t id = pop();
  std::vector<std::uint32_t> parts = pickle_[id].children;
  const auto kind_of = [&](std::size_t index) { return pickle_[parts[index]].kind; };
  const bool is_storage = pickle_[id].kind == PickleKind::tuple && parts.size() == 5 &&
                          kind_of(0) == PickleKind::text && pickle_[parts[0]].text == "storage" &&
                          kind_of(1) == PickleKind::global && kind_of(2) == PickleKind::text &&
                          kind_of(3) == PickleKind::text && kind_of(4) == PickleKind::integer;
  if (!is_storage) fail_at(opcode_at_, "a persistent id of the pickle is no storage");
  parts.erase(parts.begin());
  push_new(PickleKind::storage).children = std::move(parts);
}

void PickleMachine::put(std::uint64_t slot) {
  memo_[slot] = top();
}

void PickleMachine::get(std::uint64_t slot) {
  const auto found = memo_.find(slot);
  if (found == memo_.end())
    fail_at(opcode_at_, fmt::format("the pickle reads slot {} of the memo, which is empty", slot));
  push(found->second);
}

}  // namespace

Pickle read_pickle(std::string_view pickle, const Where& where, const PickleOptions& options) {
  Pickle read;
  PickleMachine(pickle, where, options, read).run();
  return read;
}

}  // namespace winze
