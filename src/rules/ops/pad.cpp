// SPDX-License-Identifier: MIT
// Padding with a constant (or cropping, where the padding is negative).
#include <ATen/ATen.h>

#include "rules/families.h"

namespace flightdeck::rules {
namespace {

using compat::nodes::ConstantPadNdBackward0;

Shape padding_of(const NodeView& node) {
  return compat::to_ints(node.as<ConstantPadNdBackward0>().pad);
}

Shape padded_dims(const NodeView& node) {
  const Shape padding = padding_of(node);
  Shape dims;
  for (size_t k = 1; k <= padding.size() / 2; ++k) {
    const bool is_padded = padding[2 * k - 2] != 0 || padding[2 * k - 1] != 0;
    if (is_padded) dims.push_back(-static_cast<int64_t>(k));
  }
  return dims;
}

class PadRule final : public AlongDimsRule {
 public:
  PadRule() : AlongDimsRule({"ConstantPadNdBackward0"}, &padded_dims, /*is_linear=*/true) {}

  bool has_constant_jacobian(const NodeView&) const override { return true; }
  bool keeps_channels(const NodeView&) const override { return true; }
  Shape padding(const NodeView& node) const override { return padding_of(node); }

  Tensor columns(const NodeView& node, size_t, const Tensor& stack) const override {
    Shape cropped = padding_of(node);
    for (int64_t& side : cropped) side = -side;
    return at::constant_pad_nd(stack, cropped);
  }

  Tensor tangent(const NodeView& node, const std::vector<Tensor>& tangents) const override {
    return at::constant_pad_nd(tangents[0], padding_of(node));
  }
};

}  // namespace

const Rule& pad() {
  static const PadRule rule;
  return rule;
}

}  // namespace flightdeck::rules
