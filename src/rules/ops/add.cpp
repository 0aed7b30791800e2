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
    const Tensor contribution = scaled(gradient, weight(node, edge).conj());
    return broadcast_rows(node.as_input(edge, contribution), out, node.input_shape(edge), "sum");
  }

  Tensor columns(const NodeView& node, size_t edge, const Tensor& stack) const override {
    return sum_stack_to(scaled(stack, weight(node, edge).conj()), node.input_shape(edge));
  }

  Tensor tangent(const NodeView& node, const std::vector<Tensor>& tangents) const override {
    const Shape output = node.output_shape();
    Tensor total;
    for (size_t e = 0; e < tangents.size(); ++e) {
      if (!tangents[e].defined()) continue;
      const Tensor part = scaled(align_stack(tangents[e], output.size()), weight(node, e));
      total = total.defined() ? total.add(part) : part;
    }
    return total.expand(with_lead(total.size(0), output));
  }

  bool is_linear(const NodeView&) const override { return true; }
  bool handles_complex() const override { return true; }
  LayerKind layer_kind(const NodeView& node) const override {
    return is_difference(node) ? LayerKind::kOther : LayerKind::kAddition;
  }
  bool has_constant_jacobian(const NodeView&) const override { return true; }

  std::optional<double> summand(const NodeView& node, size_t edge) const override {
    const at::Scalar factor = weight(node, edge);
    return factor.isComplex() ? std::numeric_limits<double>::quiet_NaN() : factor.toDouble();
  }

 private:
  static bool is_difference(const NodeView& node) { return node.name().rfind("Sub", 0) == 0; }
  static at::Scalar weight(const NodeView& node, size_t edge) {
    if (edge == 0) return 1;
    return is_difference(node) ? -node.as<compat::nodes::SubBackward0>().alpha
                               : node.as<compat::nodes::AddBackward0>().alpha;
  }
  static Tensor scaled(const Tensor& tensor, const at::Scalar& weight) {
    return weight.equal(1) ? tensor : tensor.mul(weight);
  }
};

}  // namespace

const Rule& add() {
  static const AddRule rule;
  return rule;
}

}  // namespace flightdeck::rules
