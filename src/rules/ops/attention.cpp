// SPDX-License-Identifier: MIT
// Fused scaled dot-product attention: queries, keys and values are [samples, heads, positions,
// features], each sample on its own. The kernels cannot be differentiated twice; tangents and
// second derivatives come from the same map written out as products and a softmax.
#include <cmath>
#include <limits>

#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>

#include "graph/apply_node.h"
#include "rules/rule.h"

namespace flightdeck::rules {
namespace {

struct Inputs {
  Tensor query, key, value, bias;
  double scale = 1;
};

// Empty if the map cannot be written out: what dropout kept is not known here.
bool read_inputs(const NodeView& node, Inputs& inputs) {
  compat::FusedAttention fused;
  if (!compat::read_attention(*node.node(), fused) || fused.dropout > 0) return false;
  inputs.query = node.unpack(*fused.query);
  inputs.key = node.unpack(*fused.key);
  inputs.value = node.unpack(*fused.value);
  if (fused.bias) inputs.bias = node.unpack(*fused.bias);
  const bool same_heads = inputs.query.size(1) == inputs.key.size(1);
  const double features = static_cast<double>(inputs.query.size(-1));
  inputs.scale = fused.scale != 0 ? fused.scale : 1 / std::sqrt(features);
  if (fused.is_causal) {
    const Tensor allowed = at::ones({inputs.query.size(2), inputs.key.size(2)},
                                    inputs.query.options().dtype(at::kBool))
                               .tril();
    const Tensor blocked =
        at::zeros(allowed.sizes(), inputs.query.options())
            .masked_fill(allowed.logical_not(), -std::numeric_limits<double>::infinity());
    inputs.bias = inputs.bias.defined() ? inputs.bias + blocked : blocked;
  }
  return same_heads;
}

Tensor weights(const Tensor& query, const Tensor& key, const Inputs& inputs) {
  const Tensor scores = at::matmul(query, key.transpose(-2, -1)) * inputs.scale;
  return at::softmax(inputs.bias.defined() ? scores + inputs.bias : scores, -1);
}

class AttentionRule final : public Rule {
 public:
  std::vector<std::string_view> nodes() const override {
    return {"ScaledDotProductCudnnAttentionBackward0",
            "ScaledDotProductEfficientAttentionBackward0",
            "ScaledDotProductFlashAttentionBackward0",
            "ScaledDotProductFlashAttentionForCpuBackward0"};
  }

  Layout input_layout(const NodeView& node, size_t edge, const Layout& out) const override {
    // A mask or bias shared by all samples (edge 3) has size 1 or no batch dimension.
    if (!out.is_batch() || out.dim != 0) return Layout::unknown();
    return edge < 3 ? out : broadcast_layout(out, node.output_shape(), node.input_shape(edge));
  }

  Tensor tangent(const NodeView& node, const std::vector<Tensor>& tangents) const override {
    Inputs inputs;
    if (!read_inputs(node, inputs) || has_moving_bias(tangents)) return {};
    const Tensor p = weights(inputs.query, inputs.key, inputs);
    Tensor scores, total;
    const auto add = [](Tensor& sum, const Tensor& part) {
      sum = sum.defined() ? sum.add(part) : part;
    };
    if (tangents[0].defined()) {
      add(scores, at::matmul(tangents[0], inputs.key.transpose(-2, -1)) * inputs.scale);
    }
    if (tangents[1].defined()) {
      add(scores, at::matmul(inputs.query, tangents[1].transpose(-2, -1)) * inputs.scale);
    }
    if (scores.defined()) {
      const Tensor moved = p * (scores - (p * scores).sum(-1, true));
      add(total, at::matmul(moved, inputs.value));
    }
    if (tangents[2].defined()) add(total, at::matmul(p, tangents[2]));
    return total;
  }

  bool bend(const NodeView& node,
            const Tensor& gradient,
            const std::vector<Tensor>& tangents,
            const std::vector<bool>& wanted,
            std::vector<Tensor>& bent) const override {
    Inputs inputs;
    if (!read_inputs(node, inputs) || has_moving_bias(tangents)) return false;
    const at::AutoGradMode with_graph(true);
    const std::vector<Tensor> leaves = {inputs.query.detach().requires_grad_(),
                                        inputs.key.detach().requires_grad_(),
                                        inputs.value.detach().requires_grad_()};
    const Tensor output = at::matmul(weights(leaves[0], leaves[1], inputs), leaves[2]);
    const auto pulled = torch::autograd::grad(
        {output}, leaves, {gradient}, /*retain_graph=*/true, /*create_graph=*/true);
    std::vector<std::vector<Tensor>> columns(3);
    for (int64_t v = 0; v < stack_size(tangents); ++v) {
      std::vector<Tensor> functions, along;
      for (size_t e = 0; e < 3; ++e) {
        if (!tangents[e].defined()) continue;
        functions.push_back(pulled[e]);
        along.push_back(tangents[e].select(0, v));
      }
      const auto one = torch::autograd::grad(functions,
                                             leaves,
                                             along,
                                             /*retain_graph=*/true,
                                             /*create_graph=*/false,
                                             /*allow_unused=*/true);
      for (size_t e = 0; e < 3; ++e) {
        columns[e].push_back(one[e].defined() ? one[e] : at::zeros_like(leaves[e]).detach());
      }
    }
    for (size_t e = 0; e < 3; ++e) {
      if (wanted[e]) bent[e] = at::stack(columns[e]).detach();
    }
    return true;
  }

 private:
  static bool has_moving_bias(const std::vector<Tensor>& tangents) {
    return tangents.size() > 3 && tangents[3].defined();
  }
};

}  // namespace

const Rule& attention() {
  static const AttentionRule rule;
  return rule;
}

}  // namespace flightdeck::rules
