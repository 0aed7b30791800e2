// SPDX-License-Identifier: MIT
// Nonlinearities whose outputs have a bound: units that sit at one are dead or saturated.
#include <limits>

#include <ATen/ATen.h>

#include "rules/families.h"

namespace flightdeck::rules {
namespace {

namespace nodes = compat::nodes;

// Describes a relu with a round corner, whose smallest value is `low`.
BoundedOutput smooth_relu(const char* op, const Tensor& values, double low) {
  return {op, values, low, std::numeric_limits<double>::infinity(), false};
}

class BoundedRule final : public PointwiseRule {
 public:
  BoundedRule()
      : PointwiseRule({"GeluBackward0",
                       "HardtanhBackward0",
                       "ReluBackward0",
                       "SigmoidBackward0",
                       "SiluBackward0",
                       "TanhBackward0"}) {}

  std::optional<BoundedOutput> bounded_output(const NodeView& node) const override {
    if (node.has_complex()) return std::nullopt;  // complex numbers have no order
    const std::string name = node.name();
    if (name == "ReluBackward0") {
      const Tensor values = node.unpack(node.as<nodes::ReluBackward0>().result_);
      return BoundedOutput{"relu", values, 0, std::numeric_limits<double>::infinity(), true};
    }
    if (name == "SigmoidBackward0") {
      return BoundedOutput{
          "sigmoid", node.unpack(node.as<nodes::SigmoidBackward0>().result_), 0, 1, false};
    }
    if (name == "TanhBackward0") {
      return BoundedOutput{
          "tanh", node.unpack(node.as<nodes::TanhBackward0>().result_), -1, 1, false};
    }
    if (name == "GeluBackward0") {
      const auto& gelu = node.as<nodes::GeluBackward0>();
      const Tensor values = at::gelu(node.unpack(gelu.self_), gelu.approximate);
      return smooth_relu("gelu", values, -0.169971);
    }
    if (name == "SiluBackward0") {
      const Tensor values = at::silu(node.unpack(node.as<nodes::SiluBackward0>().self_));
      return smooth_relu("silu", values, -0.278465);
    }
    // This node is that of relu6, too.
    const auto& hardtanh = node.as<nodes::HardtanhBackward0>();
    return BoundedOutput{"hardtanh",
                         node.unpack(hardtanh.self_).clamp(hardtanh.min_val, hardtanh.max_val),
                         hardtanh.min_val.toDouble(),
                         hardtanh.max_val.toDouble(),
                         true};
  }
};

}  // namespace

const Rule& bounded() {
  static const BoundedRule rule;
  return rule;
}

}  // namespace flightdeck::rules
