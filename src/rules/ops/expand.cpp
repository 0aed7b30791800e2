// SPDX-License-Identifier: MIT
// Broadcasting as an op of its own: expand. An operand expanded over the samples has as rows its
// summed output gradient.
#include "rules/broadcast.h"
#include "rules/families.h"

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
};

}  // namespace

const Rule& expand() {
  static const ExpandRule rule;
  return rule;
}

}  // namespace flightdeck::rules
