// SPDX-License-Identifier: MIT
// Picking entries by tensors of indices: x[:, i], table[i], x[range, i].
#include <ATen/ATen.h>

#include "rows/gather.h"
#include "rules/rule.h"
#include "rules/stacks.h"

namespace flightdeck::rules {
namespace {

using compat::nodes::IndexBackward0;

// One entry for each dimension that is indexed or skipped; undefined: skipped.
std::vector<Tensor> indices_of(const NodeView& node) {
  std::vector<Tensor> indices;
  for (const auto& saved : node.as<IndexBackward0>().indices_) {
    indices.push_back(node.unpack(saved));
  }
  return indices;
}

// The one dimension that is indexed, or -1 if there are several.
int64_t only_dim(const std::vector<Tensor>& indices) {
  int64_t found = -1;
  for (size_t k = 0; k < indices.size(); ++k) {
    if (!indices[k].defined()) continue;
    if (found >= 0) return -1;
    found = static_cast<int64_t>(k);
  }
  return found;
}

// True of 0, 1, ..., N - 1: every sample picks in itself.
bool counts_samples(const Tensor& index, int64_t N) {
  return index.defined() && index.dim() == 1 && index.size(0) == N &&
         index.equal(at::arange(N, index.options()));
}

class IndexTensorsRule final : public Rule {
 public:
  std::vector<std::string_view> nodes() const override { return {"IndexBackward0"}; }

  Layout input_layout(const NodeView& node, size_t edge, const Layout& out) const override {
    if (!out.is_batch()) return Layout::unknown();
    const std::vector<Tensor> indices = indices_of(node);
    const int64_t dim = only_dim(indices);
    if (dim < 0) {
      const bool is_own = out == Layout::batch(out.N, 0) && node.input_shape(edge)[0] == out.N;
      return is_own && counts_samples(indices[0], out.N) ? out : Layout::unknown();
    }
    // The dimensions of the index stand where the one was that it picks in.
    if (out.dim < dim) return out;
    const int64_t after = out.dim - indices[dim].dim();
    return after >= dim ? out.at_dim(after + 1) : Layout::unknown();
  }

  // Lines of a table, chosen by the samples.
  Rows rows(const NodeView& node,
            size_t edge,
            const Tensor& gradient,
            const Layout& out) const override {
    const std::vector<Tensor> indices = indices_of(node);
    const Shape table = node.input_shape(edge);
    if (only_dim(indices) != 0 || table.size() != 2 || out.dim >= indices[0].dim()) return {};
    const Tensor lines = samples_first(indices[0], out).reshape({out.N, -1}).remainder(table[0]);
    return Rows(std::make_shared<GatherForm>(
        lines, positions_and_features(gradient, out), table[0], /*padding_index=*/-1));
  }

  bool is_linear(const NodeView&) const override { return true; }
  bool handles_complex() const override { return false; }
};

}  // namespace

const Rule& index_tensors() {
  static const IndexTensorsRule rule;
  return rule;
}

}  // namespace flightdeck::rules
