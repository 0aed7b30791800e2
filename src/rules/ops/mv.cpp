// SPDX-License-Identifier: MIT
// Matrix-vector products y = X v with the samples in the rows of X: dl_n/dv = sum_t b_nt x_nt.
#include <ATen/ATen.h>

#include "rows/dense.h"
#include "rules/rule.h"

namespace flightdeck::rules {
namespace {

class MvRule final : public Rule {
 public:
  std::vector<std::string_view> nodes() const override { return {"MvBackward0"}; }

  LayerKind layer_kind(const NodeView&) const override { return LayerKind::kLinear; }

  Layout input_layout(const NodeView&, size_t edge, const Layout& out) const override {
    if (!out.is_batch()) return Layout::unknown();
    return edge == 0 ? out : Layout::free();
  }

  Rows rows(const NodeView& node,
            size_t edge,
            const Tensor& gradient,
            const Layout& out) const override {
    if (edge != 1) return {};
    const Tensor x = node.unpack(node.as<compat::nodes::MvBackward0>().self_);
    const Tensor product = x.conj() * gradient.unsqueeze(1);
    return Rows(std::make_shared<DenseForm>(
        in_row_precision(positions_and_features(product, out)).sum(1), "outer"));
  }

  bool is_linear_in(const NodeView&, size_t) const override { return true; }
  bool handles_complex() const override { return true; }
};

}  // namespace

const Rule& mv() {
  static const MvRule rule;
  return rule;
}

}  // namespace flightdeck::rules
