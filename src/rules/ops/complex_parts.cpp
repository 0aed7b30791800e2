// SPDX-License-Identifier: MIT
// Complex numbers from their parts, and their conjugates: entry by entry, and linear in the parts.
#include <ATen/ATen.h>

#include "graph/apply_node.h"
#include "rows/dense.h"
#include "rules/families.h"
#include "rules/stacks.h"

namespace flightdeck::rules {
namespace {

class ComplexPartsRule final : public PointwiseRule {
 public:
  ComplexPartsRule()
      : PointwiseRule({"ComplexBackward0", "ConjBackward0", "ConjPhysicalBackward0"}) {}

  Tensor columns(const NodeView& node, size_t edge, const Tensor& stack) const override {
    if (is_conjugate(node)) return stack.conj();
    const Tensor part = edge == 0 ? at::real(stack) : at::imag(stack).resolve_neg();
    return sum_stack_to(part, node.input_shape(edge));
  }

  Tensor tangent(const NodeView& node, const std::vector<Tensor>& tangents) const override {
    if (is_conjugate(node)) return tangents[0].conj();
    const Shape sizes = with_lead(stack_size(tangents), node.output_shape());
    const auto part = [&](const Tensor& tangent) {
      if (!tangent.defined()) return at::zeros(sizes, real_options(node.output_options()));
      return align_stack(tangent, node.output_shape().size()).expand(sizes);
    };
    return at::complex(part(tangents[0]), part(tangents[1]));
  }

  bool is_linear(const NodeView&) const override { return true; }
  bool handles_complex() const override { return true; }

  bool carry(const NodeView& node, size_t edge, size_t, Rows& rows) const override {
    const Tensor written = columns(node, edge, rows.dense(0, rows.N()));
    rows = Rows(std::make_shared<DenseForm>(written, "dense"));
    return true;
  }

 private:
  static bool is_conjugate(const NodeView& node) { return node.name() != "ComplexBackward0"; }
};

}  // namespace

const Rule& complex_parts() {
  static const ComplexPartsRule rule;
  return rule;
}

}  // namespace flightdeck::rules
