// SPDX-License-Identifier: Apache-2.0
// Operators outside PyTorch, for the tests of `--load`: those that the programs of the tests and of
// the folder of real programs call.
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <ATen/Tensor.h>
#include <ATen/TensorOperators.h>
#include <torch/library.h>

namespace {

std::tuple<at::Tensor, at::Tensor> scaled_add(const at::Tensor& x,
                                              const std::optional<at::Tensor>& y, double scale,
                                              at::IntArrayRef axes, c10::string_view mode) {
  const at::Tensor z = y ? x + *y * scale : x * scale;
  return {z.clone(), mode == "sum" ? z.sum(axes) : z.mean(axes)};
}

void accumulate(at::Tensor total, const at::Tensor& x) {
  total += x;
}

std::tuple<at::Tensor, at::Tensor> split_at(const at::Tensor& x, double limit,
                                            at::IntArrayRef axes) {
  return {x.clamp_min(limit), x.clamp_max(limit).flip(axes)};
}

/// A kernel of somebody's own may throw what is no std::exception.
at::Tensor throw_a_number(const at::Tensor& x) {
  throw static_cast<int>(x.dim());  // NOLINT(bugprone-std-exception-baseclass): that is the test
}

}  // namespace

TORCH_LIBRARY(corpus, library) {
  library.def(
      "scaled_add(Tensor x, Tensor? y, float scale, int[] axes, str mode=\"sum\") -> (Tensor, "
      "Tensor)",
      &scaled_add);
  library.def("accumulate_(Tensor(a!) total, Tensor x) -> ()", &accumulate);
}

TORCH_LIBRARY(winze_test, library) {
  library.def("split_at(Tensor x, float limit, int[] axes) -> (Tensor, Tensor)", &split_at);
  library.def("accumulate_(Tensor(a!) total, Tensor x) -> ()", &accumulate);
  library.def("throw_a_number(Tensor x) -> Tensor", &throw_a_number);
}
