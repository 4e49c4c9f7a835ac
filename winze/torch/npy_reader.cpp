// SPDX-License-Identifier: Apache-2.0
#include "winze/torch/npy_reader.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "winze/support/diagnostic.h"
#include "winze/support/quote.h"

namespace winze {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t max_header = 65536;
constexpr std::size_t max_dimensions = 64;

struct DescrRow {
  std::string_view descr;
  ScalarType dtype;
};

// Without the mark of byte order.
constexpr DescrRow descrs[] = {
    {"f2", ScalarType::float16},   {"f4", ScalarType::float32},     {"f8", ScalarType::float64},
    {"i1", ScalarType::int8},      {"i2", ScalarType::int16},       {"i4", ScalarType::int32},
    {"i8", ScalarType::int64},     {"u1", ScalarType::uint8},       {"u2", ScalarType::uint16},
    {"u4", ScalarType::uint32},    {"u8", ScalarType::uint64},      {"b1", ScalarType::bool_},
    {"c8", ScalarType::complex64}, {"c16", ScalarType::complex128},
};

/// Reads the header, the text of a Python dictionary of three known keys.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  void parse();
  ScalarType dtype = ScalarType::float32;
  bool fortran_order = false;
  std::vector<std::int64_t> sizes;

 private:
  [[noreturn]] void fail_with(std::string_view what) const {
    throw Error(fmt::format("{} is no proper .npy file: {}", quote(name_), what));
  }
  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool take(std::string_view wanted) {
    skip_blanks();
    if (!text_.substr(at_).starts_with(wanted)) return false;
    at_ += wanted.size();
    return true;
  }
  void want(std::string_view wanted) {
    if (!take(wanted)) fail_with(fmt::format("its header has no '{}' at byte {}", wanted, at_));
  }
  std::string_view take_string();
  void take_descr();
  void take_shape();

  std::string_view text_;
  const std::string& name_;
  std::size_t at_ = 0;
};

std::string_view HeaderParser::take_string() {
  skip_blanks();
  const char mark = at_ < text_.size() ? text_[at_] : '\0';
  if (mark != '\'' && mark != '"')
    fail_with(fmt::format("its header has no string at byte {}", at_));
  const std::size_t end = text_.find(mark, at_ + 1);
  if (end == std::string_view::npos) fail_with("a string of its header does not end");
  const std::string_view found = text_.substr(at_ + 1, end - at_ - 1);
  at_ = end + 1;
  return found;
}

void HeaderParser::take_descr() {
  skip_blanks();
  if (at_ < text_.size() && text_[at_] == '[')
    throw Error(fmt::format("{} holds an array of records, which is no tensor", quote(name_)));
  const std::string_view descr = take_string();
  const char order = descr.empty() ? '\0' : descr[0];
  if (order == '>') {
    throw Error(
        fmt::format("{} is big-endian ({}), which is not supported", quote(name_), quote(descr)),
        "save `array.astype(array.dtype.newbyteorder('<'))`");
  }
  const std::string_view code =
      order == '<' || order == '|' || order == '=' ? descr.substr(1) : descr;
  const auto row =
      std::ranges::find_if(descrs, [&](const DescrRow& known) { return known.descr == code; });
  if (row == std::end(descrs)) {
    throw Error(fmt::format("{} holds an array of dtype {}, which no tensor has", quote(name_),
                            quote(descr)));
  }
  dtype = row->dtype;
}

void HeaderParser::take_shape() {
  want("(");
  while (!take(")")) {
    skip_blanks();
    std::int64_t size = 0;
    const char* begin = text_.data() + at_;
    const auto [end, problem] = std::from_chars(begin, text_.data() + text_.size(), size);
    if (problem != std::errc() || size < 0)
      fail_with("its shape has a size that is no natural number");
    at_ += static_cast<std::size_t>(end - begin);
    take("L");  // of Python 2
    sizes.push_back(size);
    if (sizes.size() > max_dimensions)
      fail_with(fmt::format("it has more than {} dimensions", max_dimensions));
    if (!take(",")) {
      want(")");
      break;
    }
  }
}

void HeaderParser::parse() {
  unsigned seen = 0;
  want("{");
  while (!take("}")) {
    const std::string_view key = take_string();
    want(":");
    if (key == "descr") {
      take_descr();
      seen |= 1U;
    } else if (key == "fortran_order") {
      fortran_order = take("True");
      if (!fortran_order) want("False");
      seen |= 2U;
    } else if (key == "shape") {
      sizes.clear();
      take_shape();
      seen |= 4U;
    } else {
      fail_with(fmt::format("its header has the key {}", quote(key)));
    }
    if (!take(",")) {
      want("}");
      break;
    }
  }
  skip_blanks();
  if (seen != 7U) fail_with("its header lacks descr, fortran_order or shape");
  if (at_ != text_.size()) fail_with("something follows its header");
}

}  // namespace

bool looks_like_npy(std::string_view bytes) {
  return bytes.starts_with(magic);
}

HostTensor read_npy(const Bytes& content, const std::string& name) {
  const std::string_view bytes = content.string_view();
  if (!looks_like_npy(bytes)) throw Error(fmt::format("{} is no .npy file", quote(name)));
  const auto number = [&](std::size_t at, std::size_t size) {
    std::size_t read = 0;
    for (std::size_t index = size; index-- > 0;)
      read = read << 8U | static_cast<unsigned char>(bytes[at + index]);
    return read;
  };
  const auto require = [&](bool is_there) {
    if (!is_there) fail("{} is cut off: its header is not all there", quote(name));
  };
  require(bytes.size() >= 12);
  const std::size_t version = number(6, 1);
  if (version < 1 || version > 3)
    throw Error(fmt::format("{} has version {} of .npy; 1 to 3 are read", quote(name), version));
  const std::size_t start = version == 1 ? 10 : 12;
  const std::size_t size = number(8, start - 8);
  if (size > max_header)
    throw Error(fmt::format("{} has a header of {} bytes; at most {} are read", quote(name), size,
                            max_header));
  require(size <= bytes.size() - start);
  HeaderParser header(bytes.substr(start, size), name);
  header.parse();

  HostTensor tensor;
  tensor.dtype = header.dtype;
  std::uint64_t needed = element_size(header.dtype);
  // A size of 0 makes the array empty whatever the others say, but these must not overflow either.
  for (const std::int64_t axis : header.sizes) {
    const std::uint64_t factor = axis > 1 ? static_cast<std::uint64_t>(axis) : 1;
    if (needed > std::numeric_limits<std::int64_t>::max() / factor)
      throw Error(fmt::format("{} has a shape of too many elements", quote(name)));
    needed *= factor;
  }
  if (std::ranges::count(header.sizes, 0) != 0) needed = 0;
  const std::size_t data = start + size;
  if (bytes.size() - data != needed) {
    throw Error(fmt::format("{} holds {} bytes of elements, but its header speaks of {}",
                            quote(name), bytes.size() - data, needed));
  }
  tensor.storage = content.slice(data, needed);
  if (header.fortran_order) {
    std::vector<std::int64_t> reversed(header.sizes.rbegin(), header.sizes.rend());
    const std::vector<std::int64_t> strides = contiguous_strides(reversed);
    tensor.strides.assign(strides.rbegin(), strides.rend());
  } else {
    tensor.strides = contiguous_strides(header.sizes);
  }
  tensor.sizes = std::move(header.sizes);
  return tensor;
}

}  // namespace winze
