// SPDX-License-Identifier: MIT
// Fused scaled dot-product attention: queries, keys and values are [samples, heads, positions,
// features], each sample on its own.
#include "rules/rule.h"

namespace flightdeck::rules {
namespace {

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
};

}  // namespace

const Rule& attention() {
  static const AttentionRule rule;
  return rule;
}

}  // namespace flightdeck::rules
