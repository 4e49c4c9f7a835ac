// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "winze/shape/promotion.h"
#include "winze/shape/sizes.h"

// How elementwise operators lay out their result, as PyTorch's fake tensors do: after
// torch/_prims_common, which follows aten/src/ATen/TensorIterator.cpp.
namespace winze {

/// Dimensions in some order.
class DimOrder {
 public:
  /// Throws Error above `most`.
  explicit DimOrder(std::size_t rank);
  static constexpr std::size_t most = 128;

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::uint8_t& operator[](std::size_t at) { return dims_[at]; }
  [[nodiscard]] std::uint8_t operator[](std::size_t at) const { return dims_[at]; }
  [[nodiscard]] std::uint8_t* begin() { return dims_.data(); }
  [[nodiscard]] std::uint8_t* end() { return dims_.data() + size_; }
  [[nodiscard]] const std::uint8_t* begin() const { return dims_.data(); }
  [[nodiscard]] const std::uint8_t* end() const { return dims_.data() + size_; }

 private:
  std::array<std::uint8_t, most> dims_;
  std::size_t size_;
};

/// Whether stride `a` is known to be the smaller: also where `b` is a multiple of it, as
/// torch/_prims_common does for symbols without value.
[[nodiscard]] bool is_smaller_stride(const ShapeEnv& env, SymInt a, SymInt b);

/// Dimensions from the innermost outwards, as TensorIterator::reorder_dimensions sorts them by the
/// strides of all operands. Each operand has as many strides as there are sizes, 0 where it is
/// broadcast. Quadratic in the rank at worst.
[[nodiscard]] DimOrder memory_order(const ShapeEnv& env, Sizes sizes,
                                    std::span<const Sizes> strides);

/// The most tensors that an elementwise operator may have.
inline constexpr std::size_t most_operands = 4;

/// Strides of the result of an elementwise operator on these operands, which broadcast to `sizes`
/// (torch/_prims _prim_elementwise_meta). Tensors without dimensions on the CPU
/// have no say.
[[nodiscard]] DimVector elementwise_strides(const ShapeEnv& env, Sizes sizes,
                                            std::span<const TensorMeta* const> operands);

/// A new tensor as aten::empty_like makes it, and every rule of PyTorch's that calls it in Python:
/// what is dense keeps the order of its dimensions, and those of size 1 get strides anew.
/// `empty_like` of sizes.h is at::empty_like, which keeps these as well.
[[nodiscard]] FakeTensor elementwise_like(const ShapeEnv& env, const TensorMeta& tensor);

/// Collects the operands of an elementwise operator and gives its result.
class ElementwiseOperands {
 public:
  /// The tensor has to live as long as this.
  void add(const TensorMeta& tensor) {
    add_without_dtype(tensor);
    promotion_.add(tensor);
  }
  /// An operand that broadcasts but has no say in the dtype: a mask.
  void add_without_dtype(const TensorMeta& tensor) {
    WINZE_CHECK(count_ < most_operands, "an elementwise operator has too many operands");
    tensors_[count_++] = &tensor;
  }
  /// A Python number of this kind (`TypePromotion::add_number`).
  void add_number(ScalarType kind) { promotion_.add_number(kind); }

  [[nodiscard]] std::span<const TensorMeta* const> tensors() const {
    return {tensors_.data(), count_};
  }
  /// Throws Error where the operands do not broadcast or have no common dtype or device.
  [[nodiscard]] FakeTensor result(ShapeEnv& env, Promotion promotion) const;
  /// The same with a dtype of its own.
  [[nodiscard]] FakeTensor result_of(ShapeEnv& env, ScalarType dtype) const;

 private:
  [[nodiscard]] Device common_device() const;

  std::array<const TensorMeta*, most_operands> tensors_{};
  std::size_t count_ = 0;
  TypePromotion promotion_;
};

}  // namespace winze
