// SPDX-License-Identifier: MIT
// Softmax and log-softmax along one dimension.
#include <ATen/ATen.h>

#include "rules/families.h"

namespace flightdeck::rules {
namespace {

compat::SavedSoftmax saved(const NodeView& node) {
  compat::SavedSoftmax softmax;
  TORCH_INTERNAL_ASSERT(compat::read_softmax(*node.node(), softmax));
  return softmax;
}

bool is_log(const NodeView& node) { return node.name() == "LogSoftmaxBackward0"; }

int64_t mixed_dim(const NodeView& node) {
  return wrap(saved(node).dim, node.output_shape().size());
}

Tensor probabilities(const NodeView& node) {
  const Tensor result = node.unpack(*saved(node).result);
  return is_log(node) ? result.exp() : result;
}

class SoftmaxRule final : public AlongDimsRule {
 public:
  SoftmaxRule()
      : AlongDimsRule({"LogSoftmaxBackward0", "SafeSoftmaxBackward0", "SoftmaxBackward0"},
                      [](const NodeView& node) { return Shape{mixed_dim(node)}; }) {}

  Tensor columns(const NodeView& node, size_t, const Tensor& stack) const override {
    const Tensor p = probabilities(node);
    const int64_t dim = mixed_dim(node) + 1;
    if (is_log(node)) return stack - p * stack.sum(dim, true);
    return p * (stack - (stack * p).sum(dim, true));
  }

  Tensor tangent(const NodeView& node, const std::vector<Tensor>& tangents) const override {
    const Tensor p = probabilities(node);
    const Tensor centred = tangents[0] - (tangents[0] * p).sum(mixed_dim(node) + 1, true);
    return is_log(node) ? centred : p * centred;
  }

  Tensor summed_values(const NodeView& node) const override {
    return node.unpack(*saved(node).result);
  }

  LossStart loss_start(const NodeView& node) const override {
    return is_log(node) ? LossStart::kLogProbabilities : LossStart::kProbabilities;
  }

  // Returns the curvature of a loss, which is linear in the log-probabilities. Their Hessians are
  // all -(diag(p) - p pᵀ): class weights, smoothing, soft and ignored labels come in through the
  // gradient alone.
  SoftmaxCurvature softmax_curvature(const NodeView& node, const Tensor& gradient) const override {
    const int64_t dim = mixed_dim(node);
    return {probabilities(node), gradient.sum(dim, true).neg(), dim};
  }

  // Uses that the Hessian of each output of log-softmax is -(diag(p) - p p^T).
  bool bend(const NodeView& node,
            const Tensor& gradient,
            const std::vector<Tensor>& tangents,
            const std::vector<bool>& wanted,
            std::vector<Tensor>& bent) const override {
    if (!is_log(node) || !wanted[0]) return false;
    const Tensor p = probabilities(node);
    const int64_t dim = mixed_dim(node);
    const Tensor spread = p * (tangents[0] - (tangents[0] * p).sum(dim + 1, true));
    bent[0] = spread * gradient.sum(dim, true).neg();
    return true;
  }
};

}  // namespace

const Rule& softmax() {
  static const SoftmaxRule rule;
  return rule;
}

}  // namespace flightdeck::rules
