// SPDX-License-Identifier: MIT
// Sums and differences, x + alpha y: a bias, a positional table, any broadcast addend.
#include <ATen/ATen.h>

#include "rules/broadcast.h"
#include "rules/families.h"

namespace flightdeck::rules {
namespace {

class AddRule final : public PointwiseRule {
 public:
  AddRule() : PointwiseRule({"AddBackward0", "AddBackward1", "SubBackward0", "SubBackward1"}) {}

  Rows rows(const NodeView& node,
            size_t edge,
            const Tensor& gradient,
            const Layout& out) const override {
    const Shape shape = node.input_shape(edge);
    if (edge == 0) return broadcast_rows(gradient, out, shape, "sum");
    const bool is_difference = node.name() == "SubBackward0";
    const at::Scalar alpha = is_difference ? -node.as<compat::nodes::SubBackward0>().alpha
                                           : node.as<compat::nodes::AddBackward0>().alpha;
    return broadcast_rows(alpha.equal(1) ? gradient : gradient.mul(alpha), out, shape, "sum");
  }
};

}  // namespace

const Rule& add() {
  static const AddRule rule;
  return rule;
}

}  // namespace flightdeck::rules
