// SPDX-License-Identifier: MIT
// Discrete Fourier transforms along some dimensions: from real to complex entries, of complex ones,
// and back to real ones. They are linear; what goes back is the conjugate transpose.
#include <ATen/ATen.h>

#include "rules/families.h"

namespace flightdeck::rules {
namespace {

using compat::nodes::FftC2CBackward0;
using compat::nodes::FftC2RBackward0;
using compat::nodes::FftR2CBackward0;

bool from_real(const NodeView& node) { return node.name() == "FftR2CBackward0"; }
bool to_real(const NodeView& node) { return node.name() == "FftC2RBackward0"; }

Shape transformed_dims(const NodeView& node) {
  Shape dims;
  if (from_real(node)) {
    dims = compat::to_ints(node.as<FftR2CBackward0>().dim);
  } else if (to_real(node)) {
    dims = compat::to_ints(node.as<FftC2RBackward0>().dim);
  } else {
    dims = compat::to_ints(node.as<FftC2CBackward0>().dim);
  }
  for (int64_t& dim : dims) dim = wrap(dim, node.output_shape().size());
  return dims;
}

Shape in_stack(Shape dims) {
  for (int64_t& dim : dims) ++dim;
  return dims;
}

class FourierRule final : public AlongDimsRule {
 public:
  FourierRule()
      : AlongDimsRule({"FftC2CBackward0", "FftC2RBackward0", "FftR2CBackward0"},
                      &transformed_dims,
                      /*is_linear=*/true) {}

  Tensor columns(const NodeView& node, size_t edge, const Tensor& stack) const override {
    const Shape dims = in_stack(transformed_dims(node));
    const int64_t last = dims.back();
    if (from_real(node)) {
      // Frequencies that were left out have no gradient.
      const int64_t missing = node.input_shape(edge)[last - 1] - stack.size(last);
      Shape pad(2 * (stack.dim() - last), 0);
      pad.back() = missing;
      const Tensor all = missing > 0 ? at::constant_pad_nd(stack, pad) : stack;
      const int64_t normalization = node.as<FftR2CBackward0>().normalization;
      return at::real(at::_fft_c2c(all, dims, normalization, /*forward=*/false));
    }
    if (to_real(node)) {
      const int64_t normalization = node.as<FftC2RBackward0>().normalization;
      Tensor half = at::_fft_r2c(stack, dims, normalization, /*onesided=*/true);
      // Frequencies that stand for their mirror images, too, count twice.
      half.narrow(last, 1, stack.size(last) - half.size(last)).mul_(2);
      return half;
    }
    const auto& fft = node.as<FftC2CBackward0>();
    return at::_fft_c2c(stack, dims, fft.normalization, !fft.forward);
  }

  Tensor tangent(const NodeView& node, const std::vector<Tensor>& tangents) const override {
    const Shape dims = in_stack(transformed_dims(node));
    if (from_real(node)) {
      const auto& fft = node.as<FftR2CBackward0>();
      return at::_fft_r2c(tangents[0], dims, fft.normalization, fft.onesided);
    }
    if (to_real(node)) {
      const int64_t size = node.output_shape()[dims.back() - 1];
      return at::_fft_c2r(tangents[0], dims, node.as<FftC2RBackward0>().normalization, size);
    }
    const auto& fft = node.as<FftC2CBackward0>();
    return at::_fft_c2c(tangents[0], dims, fft.normalization, fft.forward);
  }

  bool handles_complex() const override { return true; }
};

}  // namespace

const Rule& fourier() {
  static const FourierRule rule;
  return rule;
}

}  // namespace flightdeck::rules
