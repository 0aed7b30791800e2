// SPDX-License-Identifier: MIT
// Matrix products y = beta c + alpha x W with the samples in the rows of x (or in the columns of
// W): dl_n/dW = alpha sum_t x_nt^T b_nt, an outer form.
#include "rows/outer.h"
#include "rules/broadcast.h"
#include "rules/rule.h"

namespace flightdeck::rules {
namespace {

using compat::nodes::AddmmBackward0;
using compat::nodes::MmBackward0;

size_t left_edge(const NodeView& node) { return node.name() == "AddmmBackward0" ? 1 : 0; }

class LinearRule final : public Rule {
 public:
  std::vector<std::string_view> nodes() const override { return {"AddmmBackward0", "MmBackward0"}; }

  Layout input_layout(const NodeView& node, size_t edge, const Layout& out) const override {
    if (!out.is_batch()) return Layout::unknown();
    const size_t left = left_edge(node);
    if (edge < left) return broadcast_layout(out, node.output_shape(), node.input_shape(edge));
    const int64_t own_dim = edge == left ? 0 : 1;
    return out.dim == own_dim ? out : Layout::free();
  }

  Rows rows(const NodeView& node,
            size_t edge,
            const Tensor& gradient,
            const Layout& out) const override {
    const size_t left = left_edge(node);
    at::Scalar factor = 1;
    if (left == 1) {
      const auto& addmm = node.as<AddmmBackward0>();
      factor = edge == 0 ? addmm.beta : addmm.alpha;
    }
    const Tensor scaled = factor.equal(1) ? gradient : gradient.mul(factor);
    if (edge < left) return broadcast_rows(scaled, out, node.input_shape(edge), "sum");
    if (edge == left + 1) {
      const auto a = positions_and_features(saved_left(node), out);
      return Rows(std::make_shared<OuterForm>(a, positions_and_features(scaled, out)));
    }
    // Samples in the columns: y^T = W^T x^T turns this into the case above, for the transpose.
    const Layout flipped = out.at_dim(0);
    const auto a = positions_and_features(saved_right(node).t(), flipped);
    Rows result(std::make_shared<OuterForm>(a, positions_and_features(scaled.t(), flipped)));
    result.terms().front().placement.undo_permute({1, 0});
    return result;
  }

 private:
  static Tensor saved_left(const NodeView& node) {
    return left_edge(node) == 1 ? node.unpack(node.as<AddmmBackward0>().mat1_)
                                : node.unpack(node.as<MmBackward0>().self_);
  }
  static Tensor saved_right(const NodeView& node) {
    return left_edge(node) == 1 ? node.unpack(node.as<AddmmBackward0>().mat2_)
                                : node.unpack(node.as<MmBackward0>().mat2_);
  }
};

}  // namespace

const Rule& linear() {
  static const LinearRule rule;
  return rule;
}

}  // namespace flightdeck::rules
