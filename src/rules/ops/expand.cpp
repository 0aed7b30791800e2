// SPDX-License-Identifier: MIT
// Broadcasting as an op of its own: expand. An operand expanded over the samples has as rows its
// summed output gradient.
#include "rules/broadcast.h"
#include "rules/families.h"
#include "rules/stacks.h"

namespace flightdeck::rules {
namespace {

class ExpandRule final : public PointwiseRule {
 public:
  ExpandRule() : PointwiseRule({"ExpandBackward0"}) {}

  Rows rows(const NodeView& node,
            size_t edge,
            const Tensor& gradient,
            const Layout& out) const override {
    return broadcast_rows(gradient, out, node.input_shape(edge), "sum");
  }

  Tensor columns(const NodeView& node, size_t edge, const Tensor& stack) const override {
    return sum_stack_to(stack, node.input_shape(edge));
  }

  Tensor tangent(const NodeView& node, const std::vector<Tensor>& tangents) const override {
    const Shape output = node.output_shape();
    return align_stack(tangents[0], output.size()).expand(with_lead(tangents[0].size(0), output));
  }

  bool is_linear(const NodeView&) const override { return true; }
  bool handles_complex() const override { return true; }

  std::optional<double> summand(const NodeView&, size_t) const override { return 1; }
};

}  // namespace

const Rule& expand() {
  static const ExpandRule rule;
  return rule;
}

}  // namespace flightdeck::rules
