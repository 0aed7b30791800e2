// SPDX-License-Identifier: MIT
// Layer normalisation over the last dimensions: y = x_hat w + c, x_hat = (x - mean) rstd.
#include <ATen/ATen.h>

#include "rules/broadcast.h"
#include "rules/rule.h"

namespace flightdeck::rules {
namespace {

using compat::nodes::NativeLayerNormBackward0;

class LayerNormRule final : public Rule {
 public:
  std::vector<std::string_view> nodes() const override { return {"NativeLayerNormBackward0"}; }

  Layout input_layout(const NodeView& node, size_t edge, const Layout& out) const override {
    const auto normalized = node.as<NativeLayerNormBackward0>().normalized_shape.size();
    const auto first = static_cast<int64_t>(node.output_shape().size() - normalized);
    if (!out.is_batch() || out.dim >= first) return Layout::unknown();
    return edge == 0 ? out : Layout::free();
  }

  Rows rows(const NodeView& node,
            size_t edge,
            const Tensor& gradient,
            const Layout& out) const override {
    const Shape shape = node.input_shape(edge);
    if (edge == 2) return broadcast_rows(gradient, out, shape, "sum");
    const auto& norm = node.as<NativeLayerNormBackward0>();
    const Tensor mean = node.unpack(norm.result1_);
    const Tensor normalised = node.unpack(norm.input_).sub(mean).mul_(node.unpack(norm.result2_));
    return broadcast_rows(normalised.mul_(gradient), out, shape, "scale");
  }
};

}  // namespace

const Rule& layer_norm() {
  static const LayerNormRule rule;
  return rule;
}

}  // namespace flightdeck::rules
