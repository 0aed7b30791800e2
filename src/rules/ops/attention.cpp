// SPDX-License-Identifier: MIT
// Fused scaled dot-product attention: queries, keys and values are [samples, heads, positions,
// features], each sample on its own. The kernels cannot be differentiated twice; columns, tangents
// and second derivatives come from the same map written out: with S = scale q kᵀ + bias and
// P = softmax(S), the output is P v.
#include <cmath>
#include <limits>

#include <ATen/ATen.h>

#include "graph/apply_node.h"
#include "rules/rule.h"
#include "rules/stacks.h"

namespace flightdeck::rules {
namespace {

constexpr size_t kQuery = 0, kKey = 1, kValue = 2, kBias = 3;

Tensor turned(const Tensor& tensor) { return tensor.transpose(-2, -1); }

void add_to(Tensor& sum, const Tensor& part) { sum = sum.defined() ? sum.add(part) : part; }

// Returns heads of keys or values [..., heads, T, F] as the queries see them: each stands for
// several.
Tensor spread_heads(const Tensor& tensor, int64_t heads) {
  const int64_t own = tensor.size(-3);
  return own == heads ? tensor : tensor.repeat_interleave(heads / own, -3);
}

// Adds up heads that stand for one: the transpose of spread_heads.
Tensor gather_heads(const Tensor& tensor, int64_t own) {
  const int64_t heads = tensor.size(-3);
  return own == heads ? tensor : tensor.unflatten(-3, at::IntArrayRef({own, heads / own})).sum(-3);
}

// Writes out the map at what the node has saved. Half-precision entries become float32.
class WrittenOut {
 public:
  // Throws if the map cannot be written out: what dropout kept is known to the kernel alone.
  explicit WrittenOut(const NodeView& node) : node_(node) {
    compat::FusedAttention fused;
    TORCH_INTERNAL_ASSERT(compat::read_attention(*node.node(), fused));
    TORCH_CHECK_NOT_IMPLEMENTED(
        fused.dropout == 0,
        "attention: ",
        node.name(),
        " draws its dropout (p = ",
        fused.dropout,
        ") inside of the kernel, and derivatives of its gradient need to know what was kept; set "
        "the dropout of the attention to 0, or choose the math kernel (sdpa_kernel)");
    query_ = read(*fused.query);
    heads_ = query_.size(1);
    const Tensor key = read(*fused.key), value = read(*fused.value);
    own_key_heads_ = key.size(1);
    own_value_heads_ = value.size(1);
    key_ = spread_heads(key, heads_);
    value_ = spread_heads(value, heads_);
    const double features = static_cast<double>(query_.size(-1));
    scale_ = fused.scale != 0 ? fused.scale : 1 / std::sqrt(features);
    Tensor scores = at::matmul(query_, turned(key_)) * scale_;
    if (fused.bias) {
      const Tensor bias = read(*fused.bias);
      if (bias.defined()) scores = scores + bias;
    }
    const double lowest = -std::numeric_limits<double>::infinity();
    if (fused.is_causal) {
      const Tensor blocked =
          at::ones({scores.size(-2), scores.size(-1)}, scores.options().dtype(at::kBool)).triu(1);
      scores = scores.masked_fill(blocked, lowest);
    }
    // A position that may look at nothing sees zeros.
    const Tensor sees_nothing = (scores == lowest).all(-1, /*keepdim=*/true);
    weights_ = at::softmax(scores, -1).masked_fill(sees_nothing, 0);
  }

  Tensor wide(const Tensor& tensor) const {
    return tensor.defined() ? tensor.to(query_.scalar_type()) : tensor;
  }

  // Computes the gradient of one input from those of the output [..., N, heads, T, F].
  Tensor pull(size_t edge, const Tensor& gradient) const {
    if (edge == kValue) {
      return gather_heads(at::matmul(turned(weights_), gradient), own_value_heads_);
    }
    return pull_scores(edge, score_gradient(gradient));
  }

  // Computes the tangent of the scores, along tangents [V, ...] of the inputs; undefined if they
  // stay.
  Tensor score_tangent(const std::vector<Tensor>& tangents) const {
    Tensor moved;
    const Tensor query = wide(tangents[kQuery]), key = wide(tangents[kKey]);
    if (query.defined()) add_to(moved, at::matmul(query, turned(key_)) * scale_);
    if (key.defined()) {
      add_to(moved, at::matmul(query_, turned(spread_heads(key, heads_))) * scale_);
    }
    if (tangents.size() > kBias && tangents[kBias].defined()) {
      add_to(moved, align_stack(wide(tangents[kBias]), weights_.dim()));
    }
    return moved;
  }

  Tensor weight_tangent(const Tensor& scores) const {
    return weights_ * (scores - (weights_ * scores).sum(-1, true));
  }

  Tensor tangent(const std::vector<Tensor>& tangents) const {
    Tensor total;
    const Tensor scores = score_tangent(tangents);
    if (scores.defined()) add_to(total, at::matmul(weight_tangent(scores), value_));
    if (tangents[kValue].defined()) {
      add_to(total, at::matmul(weights_, spread_heads(wide(tangents[kValue]), heads_)));
    }
    return total;
  }

  // Computes how the gradients of the inputs move along the tangents, for a gradient of the output
  // that stays.
  void bend(const Tensor& gradient,
            const std::vector<Tensor>& tangents,
            const std::vector<bool>& wanted,
            std::vector<Tensor>& bent) const {
    const Tensor reaching = at::matmul(gradient, turned(value_));  // the gradient of the weights
    const Tensor mean = (weights_ * reaching).sum(-1, true);
    const Tensor pulled = weights_ * (reaching - mean);  // that of the scores
    Tensor moved_weights, moved_pulled;
    const Tensor scores = score_tangent(tangents);
    if (scores.defined()) {
      moved_weights = weight_tangent(scores);
      moved_pulled =
          moved_weights * (reaching - mean) - weights_ * (moved_weights * reaching).sum(-1, true);
    }
    if (tangents[kValue].defined()) {
      const Tensor moved_reaching =
          at::matmul(gradient, turned(spread_heads(wide(tangents[kValue]), heads_)));
      add_to(moved_pulled, weight_tangent(moved_reaching));
    }
    for (size_t e = 0; e < wanted.size(); ++e) {
      if (!wanted[e]) continue;
      Tensor& result = bent[e];
      if (e == kValue) {
        if (moved_weights.defined()) {
          result = gather_heads(at::matmul(turned(moved_weights), gradient), own_value_heads_);
        }
        continue;
      }
      if (moved_pulled.defined()) result = pull_scores(e, moved_pulled);
      const Tensor query = wide(tangents[kQuery]), key = wide(tangents[kKey]);
      if (e == kQuery && key.defined()) {
        add_to(result, at::matmul(pulled, spread_heads(key, heads_)) * scale_);
      }
      if (e == kKey && query.defined()) {
        add_to(result, gather_heads(at::matmul(turned(pulled), query) * scale_, own_key_heads_));
      }
    }
  }

 private:
  Tensor read(const compat::ag::SavedVariable& saved) const {
    const Tensor tensor = node_.unpack(saved);
    const bool is_half = tensor.defined() && (tensor.scalar_type() == at::kHalf ||
                                              tensor.scalar_type() == at::kBFloat16);
    return is_half ? tensor.to(at::kFloat) : tensor;
  }

  Tensor score_gradient(const Tensor& gradient) const {
    return weight_tangent(at::matmul(gradient, turned(value_)));  // the softmax is symmetric
  }

  // Computes the gradient of one input from those of the scores [..., N, heads, T, S].
  Tensor pull_scores(size_t edge, const Tensor& scores) const {
    if (edge == kQuery) return at::matmul(scores, key_) * scale_;
    if (edge == kKey) {
      return gather_heads(at::matmul(turned(scores), query_) * scale_, own_key_heads_);
    }
    return sum_stack_to(scores, node_.input_shape(edge));
  }

  const NodeView& node_;
  Tensor query_, key_, value_, weights_;
  int64_t heads_ = 0, own_key_heads_ = 0, own_value_heads_ = 0;
  double scale_ = 1;
};

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

  // Leaves dropout to the kernel: one that draws can be applied, though not written out.
  Tensor columns(const NodeView& node, size_t edge, const Tensor& stack) const override {
    if (has_dropout(node)) return {};
    const WrittenOut map(node);
    return map.pull(edge, map.wide(stack)).to(node.input_options(edge).dtype());
  }

  Tensor tangent(const NodeView& node, const std::vector<Tensor>& tangents) const override {
    const Tensor total = WrittenOut(node).tangent(tangents);
    return total.defined() ? total.to(node.output_options().dtype()) : total;
  }

  bool bend(const NodeView& node,
            const Tensor& gradient,
            const std::vector<Tensor>& tangents,
            const std::vector<bool>& wanted,
            std::vector<Tensor>& bent) const override {
    const WrittenOut map(node);
    map.bend(map.wide(gradient), tangents, wanted, bent);
    for (size_t e = 0; e < bent.size(); ++e) {
      if (bent[e].defined()) bent[e] = bent[e].to(node.input_options(e).dtype());
    }
    return true;
  }

 private:
  static bool has_dropout(const NodeView& node) {
    compat::FusedAttention fused;
    return !compat::read_attention(*node.node(), fused) || fused.dropout > 0;
  }
};

}  // namespace

const Rule& attention() {
  static const AttentionRule rule;
  return rule;
}

}  // namespace flightdeck::rules
