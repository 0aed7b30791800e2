// SPDX-License-Identifier: MIT
// Sums and differences, x + alpha y: a bias, a positional table, any broadcast addend.
#include <limits>

#include <ATen/ATen.h>

#include "rules/broadcast.h"
#include "rules/families.h"
#include "rules/stacks.h"

namespace flightdeck::rules {
namespace {

class AddRule final : public PointwiseRule {
 public:
  AddRule() : PointwiseRule({"AddBackward0", "AddBackward1", "SubBackward0", "SubBackward1"}) {}

  Rows rows(const NodeView& node,
            size_t edge,
            const Tensor& gradient,
            const Layout& out) const override {
    return broadcast_rows(weighted(node, edge, gradient), out, node.input_shape(edge), "sum");
  }

  Tensor columns(const NodeView& node, size_t edge, const Tensor& stack) const override {
    return sum_stack_to(weighted(node, edge, stack), node.input_shape(edge));
  }

  Tensor tangent(const NodeView& node, const std::vector<Tensor>& tangents) const override {
    const Shape output = node.output_shape();
    Tensor total;
    for (size_t e = 0; e < tangents.size(); ++e) {
      if (!tangents[e].defined()) continue;
      const Tensor part = weighted(node, e, align_stack(tangents[e], output.size()));
      total = total.defined() ? total.add(part) : part;
    }
    return total.expand(with_lead(total.size(0), output));
  }

  bool is_linear(const NodeView&) const override { return true; }

  std::optional<double> summand(const NodeView& node, size_t edge) const override {
    return edge == 0 ? 1 : number(factor(node));
  }

 private:
  static double number(const at::Scalar& scalar) {
    return scalar.isComplex() ? std::numeric_limits<double>::quiet_NaN() : scalar.toDouble();
  }
  static Tensor weighted(const NodeView& node, size_t edge, const Tensor& tensor) {
    if (edge == 0) return tensor;
    const at::Scalar alpha = factor(node);
    return alpha.equal(1) ? tensor : tensor.mul(alpha);
  }

  // Of the second input.
  static at::Scalar factor(const NodeView& node) {
    const bool is_difference = node.name() == "SubBackward0";
    return is_difference ? -node.as<compat::nodes::SubBackward0>().alpha
                         : node.as<compat::nodes::AddBackward0>().alpha;
  }
};

}  // namespace

const Rule& add() {
  static const AddRule rule;
  return rule;
}

}  // namespace flightdeck::rules
