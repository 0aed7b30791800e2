// SPDX-License-Identifier: MIT
// Layer normalisation over the last dimensions: y = x_hat w + c, x_hat = (x - mean) rstd.
#include <ATen/ATen.h>

#include "rules/broadcast.h"
#include "rules/rule.h"
#include "rules/stacks.h"

namespace flightdeck::rules {
namespace {

using compat::nodes::NativeLayerNormBackward0;

class LayerNormRule final : public Rule {
 public:
  std::vector<std::string_view> nodes() const override { return {"NativeLayerNormBackward0"}; }

  LayerKind layer_kind(const NodeView&) const override { return LayerKind::kNorm; }

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
    return broadcast_rows(normalised(node).mul_(gradient), out, shape, "scale");
  }

  // Computes dx = rstd (g - mean(g) - x_hat mean(g x_hat)) with g = dy w; tangents follow it, too,
  // with the weight applied last.
  Tensor columns(const NodeView& node, size_t edge, const Tensor& stack) const override {
    const auto& norm = node.as<NativeLayerNormBackward0>();
    if (edge == 2) return sum_stack_to(stack, node.input_shape(edge));
    if (edge == 1) return sum_stack_to(stack * normalised(node), node.input_shape(edge));
    const Tensor weight = node.unpack(norm.weight_);
    return project(node, weight.defined() ? stack * weight : stack);
  }

  Tensor tangent(const NodeView& node, const std::vector<Tensor>& tangents) const override {
    const Shape output = node.output_shape();
    Tensor total;
    const auto add = [&total](const Tensor& part) {
      total = total.defined() ? total.add(part) : part;
    };
    if (tangents[0].defined()) {
      const Tensor weight = node.unpack(node.as<NativeLayerNormBackward0>().weight_);
      const Tensor projected = project(node, tangents[0]);
      add(weight.defined() ? projected * weight : projected);
    }
    if (tangents[1].defined()) add(align_stack(tangents[1], output.size()) * normalised(node));
    if (tangents[2].defined()) add(align_stack(tangents[2], output.size()));
    return total.expand(with_lead(total.size(0), output));
  }

  bool is_linear_in(const NodeView&, size_t edge) const override { return edge > 0; }

 private:
  static Tensor normalised(const NodeView& node) {
    const auto& norm = node.as<NativeLayerNormBackward0>();
    return node.unpack(norm.input_)
        .sub(node.unpack(norm.result1_))
        .mul_(node.unpack(norm.result2_));
  }

  static Tensor project(const NodeView& node, const Tensor& stack) {
    const auto& norm = node.as<NativeLayerNormBackward0>();
    Shape dims;
    for (size_t k = 1; k <= norm.normalized_shape.size(); ++k) dims.push_back(-int64_t(k));
    const Tensor x_hat = normalised(node);
    return (stack - stack.mean(dims, true) - x_hat * (stack * x_hat).mean(dims, true)) *
           node.unpack(norm.result2_);
  }
};

}  // namespace

const Rule& layer_norm() {
  static const LayerNormRule rule;
  return rule;
}

}  // namespace flightdeck::rules
