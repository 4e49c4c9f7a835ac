// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <complex>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "winze/ir/graph.h"

// What a builder takes for each type of the schema language. Each class is made implicitly of what
// PyTorch's Python argument parser takes for that type and of nothing else, so that a wrong
// argument does not compile. Where the kind of an argument is not known when the pass is compiled,
// as for one that is read from another node, an Argument stands for it, and is checked when the
// node is made.
namespace winze {

/// An argument that is not given: it has the schema's default.
struct LeftOut {
  explicit LeftOut() = default;
};
inline constexpr LeftOut left_out{};

/// An int of C++. A bool is none, as in PyTorch.
template <typename T>
concept Integer = std::integral<T> && !std::same_as<T, bool>;

/// What all of them hold: an argument for the graph. Each gives it by `in(graph)`.
class BuilderArgument {
 public:
  // NOLINTBEGIN(google-explicit-constructor): arguments are written as in PyTorch
  BuilderArgument(LeftOut /*default*/) {}
  template <std::same_as<Argument> T>
  BuilderArgument(const T& argument) : argument_(argument) {}
  // NOLINTEND(google-explicit-constructor)

 protected:
  BuilderArgument() = default;
  Argument argument_;
  friend class ListBuilderArgument;
};

/// One that needs no context.
class PlainArgument : public BuilderArgument {
 public:
  using BuilderArgument::BuilderArgument;
  [[nodiscard]] const Argument& in(const Graph& /*graph*/) const { return argument_; }
};

/// `T?`: also std::nullopt, which is None.
template <typename T>
class OptionalArg : public T {
 public:
  using T::T;
  OptionalArg(std::nullopt_t /*none*/)  // NOLINT(google-explicit-constructor): as in PyTorch
      : T(Argument::none()) {}
};

// NOLINTBEGIN(google-explicit-constructor)

/// `Tensor`: a value, or a node that yields one.
class TensorArg : public PlainArgument {
 public:
  using PlainArgument::PlainArgument;
  TensorArg(const Value& value) : PlainArgument(Argument(value)) {}
  TensorArg(const Node& node) : TensorArg(Value(node)) {}
};

/// `int`: a constant.
class IntArg : public PlainArgument {
 public:
  using PlainArgument::PlainArgument;
  template <Integer T>
  IntArg(T value) : PlainArgument(Argument(static_cast<std::int64_t>(value))) {}
};

/// `SymInt`: an int, or a value that is a SymInt.
class SymIntArg : public IntArg {
 public:
  using IntArg::IntArg;
  SymIntArg(const Value& value) : IntArg(Argument(value)) {}
  SymIntArg(const Node& node) : SymIntArg(Value(node)) {}
};

/// `float`, `SymFloat`: a float, an int (which is made a float), or a value.
class FloatArg : public PlainArgument {
 public:
  using PlainArgument::PlainArgument;
  template <typename T>
    requires Integer<T> || std::floating_point<T>
  FloatArg(T value) : PlainArgument(Argument(static_cast<double>(value))) {}
  FloatArg(const Value& value) : PlainArgument(Argument(value)) {}
  FloatArg(const Node& node) : FloatArg(Value(node)) {}
};

/// `bool`: true or false.
class BoolArg : public PlainArgument {
 public:
  using PlainArgument::PlainArgument;
  template <std::same_as<bool> T>
  BoolArg(T value) : PlainArgument(Argument(value)) {}
};

/// `SymBool`: true, false, or a value that is a SymBool.
class SymBoolArg : public BoolArg {
 public:
  using BoolArg::BoolArg;
  SymBoolArg(const Value& value) : BoolArg(Argument(value)) {}
  SymBoolArg(const Node& node) : SymBoolArg(Value(node)) {}
};

/// `Scalar` of an operator whose other overload takes a tensor there: a number of C++. What kind a
/// value is of decides about it when the node is made.
class NumberArg : public BuilderArgument {
 public:
  using BuilderArgument::BuilderArgument;
  template <typename T>
    requires std::integral<T> || std::floating_point<T>
  NumberArg(T value) {
    if constexpr (std::same_as<T, bool>) {
      argument_ = Argument(value);
    } else if constexpr (std::integral<T>) {
      argument_ = Argument(static_cast<std::int64_t>(value));
    } else {
      argument_ = Argument(static_cast<double>(value));
    }
  }
  NumberArg(std::complex<double> value) : complex_(value), is_complex_(true) {}
  [[nodiscard]] Argument in(const Graph& graph) const {
    return is_complex_ ? graph.context().complex(complex_.real(), complex_.imag()) : argument_;
  }

 private:
  std::complex<double> complex_;
  bool is_complex_ = false;
};

/// `Scalar`: a number, or a value that is a SymInt, SymFloat or SymBool.
class ScalarArg : public NumberArg {
 public:
  using NumberArg::NumberArg;
  ScalarArg(const Value& value) : NumberArg(Argument(value)) {}
  ScalarArg(const Node& node) : ScalarArg(Value(node)) {}
};

/// `Tensor` of the functions that take a number for one too, such as `add`.
using TensorOrNumberArg = ScalarArg;

/// `str`.
class StringArg : public BuilderArgument {
 public:
  using BuilderArgument::BuilderArgument;
  StringArg(std::string_view text) : text_(text) {}
  StringArg(const char* text) : text_(text) {}
  [[nodiscard]] Argument in(const Graph& graph) const {
    return text_ ? graph.context().string_argument(*text_) : argument_;
  }

 private:
  std::optional<std::string_view> text_;
};

/// A plain attribute: `ScalarType`, `Layout`, `MemoryFormat`, `Device`.
template <typename T>
class AttributeArg : public PlainArgument {
 public:
  using PlainArgument::PlainArgument;
  AttributeArg(T value) : PlainArgument(Argument(value)) {}
};
using DtypeArg = AttributeArg<ScalarType>;
using LayoutArg = AttributeArg<Layout>;
using MemoryFormatArg = AttributeArg<MemoryFormat>;
using DeviceArg = AttributeArg<Device>;

/// What all lists hold: their elements, few of them without the heap.
class ListBuilderArgument : public BuilderArgument {
 public:
  using BuilderArgument::BuilderArgument;
  [[nodiscard]] Argument in(const Graph& graph) const;

 protected:
  ListBuilderArgument() : is_list_(true) {}
  void push_back(const BuilderArgument& element);

 private:
  static constexpr std::size_t inline_capacity = 4;
  std::array<Argument, inline_capacity> inline_;
  std::vector<Argument> spilled_;  ///< all of them where there are more than fit; else empty
  std::size_t size_ = 0;
  bool is_list_ = false;
};

/// `T[]`: elements in braces, or any range of them.
template <typename Element>
class ListArg : public ListBuilderArgument {
 public:
  using ListBuilderArgument::ListBuilderArgument;
  ListArg(std::initializer_list<Element> elements) { append(elements); }
  template <typename T>
    requires std::convertible_to<const T&, Element>
  ListArg(const std::vector<T>& elements) {
    append(elements);
  }
  template <typename T, std::size_t extent>
    requires std::convertible_to<const T&, Element>
  ListArg(std::span<T, extent> elements) {
    append(elements);
  }
  template <typename T, std::size_t count>
    requires std::convertible_to<const T&, Element>
  ListArg(const std::array<T, count>& elements) {
    append(elements);
  }

 private:
  template <typename Elements>
  void append(const Elements& elements) {
    for (const auto& element : elements) this->push_back(Element(element));
  }
};

/// `T[count]`: also a single element, which stands for so many of it.
template <typename Element, std::size_t count>
class SizedListArg : public ListArg<Element> {
 public:
  using ListArg<Element>::ListArg;
  template <typename T>
    requires std::convertible_to<const T&, Element> && (!std::same_as<T, Argument>) &&
             (!std::same_as<T, LeftOut>)
  SizedListArg(const T& value) {
    const Element element = value;
    for (std::size_t index = 0; index < count; ++index) this->push_back(element);
  }
};

// NOLINTEND(google-explicit-constructor)

}  // namespace winze
