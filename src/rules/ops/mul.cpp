// SPDX-License-Identifier: MIT
// Products and quotients: a scale, a gate, any broadcast factor or divisor.
#include <ATen/ATen.h>

#include "rules/broadcast.h"
#include "rules/families.h"

namespace flightdeck::rules {
namespace {

using compat::nodes::DivBackward0;
using compat::nodes::MulBackward0;

class MulRule final : public PointwiseRule {
 public:
  MulRule() : PointwiseRule({"DivBackward0", "DivBackward1", "MulBackward0", "MulBackward1"}) {}

  Rows rows(const NodeView& node,
            size_t edge,
            const Tensor& gradient,
            const Layout& out) const override {
    const std::string name = node.name();
    Tensor contribution;
    if (name == "MulBackward0") {
      const auto& mul = node.as<MulBackward0>();
      contribution = gradient * node.unpack(edge == 0 ? mul.other_ : mul.self_);
    } else if (name == "DivBackward0") {
      const auto& div = node.as<DivBackward0>();
      const Tensor divisor = node.unpack(div.other_);
      contribution = gradient / divisor;
      if (edge == 1) contribution = -contribution * node.unpack(div.self_) / divisor;
    } else {
      return {};
    }
    // A factor may have been broadcast against the output on both sides.
    const Tensor full = contribution.expand_as(gradient);
    return broadcast_rows(full, out, node.input_shape(edge), "scale");
  }
};

}  // namespace

const Rule& mul() {
  static const MulRule rule;
  return rule;
}

}  // namespace flightdeck::rules
