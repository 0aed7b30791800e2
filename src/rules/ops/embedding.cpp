// SPDX-License-Identifier: MIT
// Embedding: output position (n, t) is line indices[n][t] of the table.
#include <ATen/ATen.h>

#include "rows/gather.h"
#include "rules/rule.h"

namespace flightdeck::rules {
namespace {

using compat::nodes::EmbeddingBackward0;

class EmbeddingRule final : public Rule {
 public:
  std::vector<std::string_view> nodes() const override { return {"EmbeddingBackward0"}; }

  LayerKind layer_kind(const NodeView&) const override { return LayerKind::kEmbedding; }

  Layout input_layout(const NodeView& node, size_t, const Layout& out) const override {
    const auto last = static_cast<int64_t>(node.output_shape().size()) - 1;
    return out.is_batch() && out.dim < last ? Layout::free() : Layout::unknown();
  }

  Rows rows(const NodeView& node,
            size_t edge,
            const Tensor& gradient,
            const Layout& out) const override {
    const auto& embedding = node.as<EmbeddingBackward0>();
    // Scaling by frequency divides by counts over the whole batch.
    if (embedding.scale_grad_by_freq) return {};
    const Tensor indices = samples_first(node.unpack(embedding.indices_), out).reshape({out.N, -1});
    return Rows(std::make_shared<GatherForm>(indices,
                                             positions_and_features(gradient, out),
                                             node.input_shape(edge)[0],
                                             compat::to_int(embedding.padding_idx)));
  }
  // Carries rows to a table that is looked up by indices that no sample chooses (positions): the
  // rows of its output are scattered.
  bool carry(const NodeView& node, size_t edge, size_t, Rows& rows) const override {
    const auto& embedding = node.as<EmbeddingBackward0>();
    if (embedding.scale_grad_by_freq) return false;
    const Shape table = node.input_shape(edge);
    const Tensor indices = node.unpack(embedding.indices_).reshape({1, -1});
    const Tensor b = rows.dense(0, rows.N()).reshape({rows.N(), -1, table[1]});
    rows = Rows(std::make_shared<GatherForm>(
        indices.expand({rows.N(), -1}), b, table[0], compat::to_int(embedding.padding_idx)));
    return true;
  }

  bool is_linear(const NodeView&) const override { return true; }
};

}  // namespace

const Rule& embedding() {
  static const EmbeddingRule rule;
  return rule;
}

}  // namespace flightdeck::rules
