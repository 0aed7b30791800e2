// SPDX-License-Identifier: MIT
// Batched matrix products: samples usually sit in the batch dimension of both factors (attention);
// one factor may also be a stack of parameters shared by all samples (experts, heads). Of complex
// factors, what goes back meets the conjugates.
#include <ATen/ATen.h>

#include "rows/dense.h"
#include "rules/broadcast.h"
#include "rules/rule.h"

namespace flightdeck::rules {
namespace {

using compat::nodes::BmmBackward0;

class BmmRule final : public Rule {
 public:
  std::vector<std::string_view> nodes() const override {
    return {"BaddbmmBackward0", "BmmBackward0"};
  }

  LayerKind layer_kind(const NodeView&) const override { return LayerKind::kLinear; }

  Layout input_layout(const NodeView& node, size_t edge, const Layout& out) const override {
    if (!out.is_batch()) return Layout::unknown();
    const size_t left = node.name() == "BaddbmmBackward0" ? 1 : 0;
    if (edge < left) return broadcast_layout(out, node.output_shape(), node.input_shape(edge));
    if (out.dim == 0) return out;
    const int64_t own_dim = edge == left ? 1 : 2;
    return out.dim == own_dim ? out : Layout::free();
  }

  Rows rows(const NodeView& node,
            size_t edge,
            const Tensor& gradient,
            const Layout& out) const override {
    if (node.name() != "BmmBackward0") return {};
    const auto& bmm = node.as<BmmBackward0>();
    // In [b, M, K] x [b, K, J] the samples move in front, the stack b is kept, positions are
    // summed.
    const bool is_right = edge == 1;
    const Tensor other = is_right ? node.unpack(bmm.self_).conj() : node.unpack(bmm.mat2_).mH();
    const Tensor grad = is_right ? gradient : gradient.transpose(1, 2);
    const Layout layout = out.at_dim(1);
    const auto positions = [&layout](const Tensor& x) {
      const Tensor split = in_row_precision(samples_first(x, layout));  // [N, b, outer, inner, F]
      return split.reshape({layout.N, x.size(0), -1, x.size(2)});
    };
    const Tensor product = at::matmul(positions(other).transpose(2, 3), positions(grad));
    return Rows(std::make_shared<DenseForm>(is_right ? product : product.transpose(2, 3), "outer"));
  }

  Tensor columns(const NodeView& node, size_t edge, const Tensor& stack) const override {
    if (node.name() != "BmmBackward0") return {};
    const auto& bmm = node.as<BmmBackward0>();
    return edge == 0 ? at::matmul(stack, node.unpack(bmm.mat2_).mH())
                     : at::matmul(node.unpack(bmm.self_).mH(), stack);
  }

  Tensor tangent(const NodeView& node, const std::vector<Tensor>& tangents) const override {
    if (node.name() != "BmmBackward0") return {};
    const auto& bmm = node.as<BmmBackward0>();
    Tensor total;
    if (tangents[0].defined()) total = at::matmul(tangents[0], node.unpack(bmm.mat2_));
    if (tangents[1].defined()) {
      const Tensor part = at::matmul(node.unpack(bmm.self_), tangents[1]);
      total = total.defined() ? total.add(part) : part;
    }
    return total;
  }

  bool bend(const NodeView& node,
            const Tensor& gradient,
            const std::vector<Tensor>& tangents,
            const std::vector<bool>& wanted,
            std::vector<Tensor>& bent) const override {
    if (node.name() != "BmmBackward0") return false;
    if (wanted[0] && tangents[1].defined()) {
      bent[0] = at::matmul(gradient, tangents[1].mH());
    }
    if (wanted[1] && tangents[0].defined()) {
      bent[1] = at::matmul(tangents[0].mH(), gradient);
    }
    return true;
  }

  bool is_linear_in(const NodeView&, size_t) const override { return true; }
  bool handles_complex() const override { return true; }
};

}  // namespace

const Rule& bmm() {
  static const BmmRule rule;
  return rule;
}

}  // namespace flightdeck::rules
