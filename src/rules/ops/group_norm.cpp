// SPDX-License-Identifier: MIT
// Group normalisation: statistics per sample and group of channels, scale and shift per channel.
#include <ATen/ATen.h>

#include "rules/broadcast.h"
#include "rules/rule.h"
#include "rules/stacks.h"

namespace flightdeck::rules {
namespace {

using compat::nodes::NativeGroupNormBackward0;

class GroupNormRule final : public Rule {
 public:
  std::vector<std::string_view> nodes() const override { return {"NativeGroupNormBackward0"}; }

  LayerKind layer_kind(const NodeView&) const override { return LayerKind::kNorm; }

  Layout input_layout(const NodeView&, size_t edge, const Layout& out) const override {
    if (!out.is_batch() || out.dim != 0) return Layout::unknown();
    return edge == 0 ? out : Layout::free();
  }

  Rows rows(const NodeView& node,
            size_t edge,
            const Tensor& gradient,
            const Layout& out) const override {
    if (edge == 2) return channel_rows(gradient, out, "sum");
    return channel_rows(normalised(node).mul_(gradient), out, "scale");
  }

  // Computes dx = rstd (g - mean(g) - x_hat mean(g x_hat)) within each group, with g = dy w.
  Tensor columns(const NodeView& node, size_t edge, const Tensor& stack) const override {
    if (edge == 2) return sum_to_channels(stack);
    if (edge == 1) return sum_to_channels(stack * normalised(node));
    return project(node, weighted(node, stack));
  }

  Tensor tangent(const NodeView& node, const std::vector<Tensor>& tangents) const override {
    Tensor total;
    const auto add = [&total](const Tensor& part) {
      total = total.defined() ? total.add(part) : part;
    };
    const size_t rank = node.output_shape().size();
    if (tangents[0].defined()) add(weighted(node, project(node, tangents[0])));
    if (tangents[1].defined()) add(align_channels(tangents[1], rank) * normalised(node));
    if (tangents[2].defined()) add(align_channels(tangents[2], rank));
    return total.expand(with_lead(total.size(0), node.output_shape()));
  }

  bool is_linear_in(const NodeView&, size_t edge) const override { return edge > 0; }

 private:
  static Tensor weighted(const NodeView& node, const Tensor& stack) {
    const Tensor weight = node.unpack(node.as<NativeGroupNormBackward0>().weight_);
    return weight.defined() ? stack * align_channels(weight.unsqueeze(0), stack.dim() - 1) : stack;
  }

  static Tensor normalised(const NodeView& node) {
    const auto& norm = node.as<NativeGroupNormBackward0>();
    const Tensor input = node.unpack(norm.input_);
    const Tensor mean = node.unpack(norm.result1_);  // [images, groups]
    const Tensor grouped = input.reshape({mean.size(0), mean.size(1), -1});
    return grouped.sub(mean.unsqueeze(2))
        .mul_(node.unpack(norm.result2_).unsqueeze(2))
        .view(input.sizes());
  }

  static Tensor project(const NodeView& node, const Tensor& stack) {
    const Tensor rstd = node.unpack(node.as<NativeGroupNormBackward0>().result2_);
    const Tensor x_hat = normalised(node).view({rstd.size(0), rstd.size(1), -1});
    const Tensor g = stack.reshape({stack.size(0), rstd.size(0), rstd.size(1), -1});
    const Tensor centred = g - g.mean(3, true) - x_hat * (g * x_hat).mean(3, true);
    return (centred * rstd.unsqueeze(2)).view(stack.sizes());
  }
};

}  // namespace

const Rule& group_norm() {
  static const GroupNormRule rule;
  return rule;
}

}  // namespace flightdeck::rules
