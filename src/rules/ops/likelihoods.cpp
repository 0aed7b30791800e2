// SPDX-License-Identifier: MIT
// Pointwise ops that losses written by hand are made of: a logarithm, a square, the negative
// log-likelihoods of a Bernoulli variable.
#include <ATen/ATen.h>

#include "rules/families.h"

namespace flightdeck::rules {
namespace {

namespace nodes = compat::nodes;

class LikelihoodRule final : public PointwiseRule {
 public:
  LikelihoodRule()
      : PointwiseRule(
            {"LogBackward0", "LogSigmoidBackward0", "PowBackward0", "SoftplusBackward0"}) {}

  bool is_logarithm(const NodeView& node) const override { return node.name() == "LogBackward0"; }

  LossStart loss_start(const NodeView& node) const override {
    const std::string name = node.name();
    const bool is_start =
        name == "LogSigmoidBackward0" || name == "SoftplusBackward0" ||
        (name == "PowBackward0" && node.as<nodes::PowBackward0>().exponent.toDouble() == 2);
    return is_start ? LossStart::kPointwise : LossStart::kNone;
  }

  Tensor label_probability(const NodeView& node) const override {
    if (node.name() == "LogSigmoidBackward0") {
      return node.unpack(node.as<nodes::LogSigmoidBackward0>().self_).sigmoid();
    }
    if (node.name() == "SoftplusBackward0") {
      const auto& softplus = node.as<nodes::SoftplusBackward0>();
      return node.unpack(softplus.self_).mul(softplus.beta).sigmoid();
    }
    return {};
  }
};

}  // namespace

const Rule& likelihoods() {
  static const LikelihoodRule rule;
  return rule;
}

}  // namespace flightdeck::rules
