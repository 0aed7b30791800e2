// SPDX-License-Identifier: MIT
// logsumexp: over one dimension it is what remains of a softmax cross-entropy written by hand.
#include <ATen/ATen.h>

#include "rules/families.h"

namespace flightdeck::rules {
namespace {

using compat::nodes::LogsumexpBackward0;

ReductionRule::Reduced reduced_dims(const NodeView& node) {
  const auto& typed = node.as<LogsumexpBackward0>();
  return {compat::to_ints(typed.dim), typed.keepdim};
}

class LogsumexpRule final : public ReductionRule {
 public:
  LogsumexpRule() : ReductionRule({"LogsumexpBackward0"}, &reduced_dims) {}

  LossStart loss_start(const NodeView& node) const override {
    return node.as<LogsumexpBackward0>().dim.size() == 1 ? LossStart::kLogProbabilities
                                                         : LossStart::kNone;
  }

  SoftmaxCurvature softmax_curvature(const NodeView& node, const Tensor& gradient) const override {
    const auto& typed = node.as<LogsumexpBackward0>();
    const Tensor z = node.unpack(typed.self_);
    const int64_t dim = wrap(compat::to_int(typed.dim[0]), z.dim());
    const auto per_class = [&](const Tensor& t) { return typed.keepdim ? t : t.unsqueeze(dim); };
    return {(z - per_class(node.unpack(typed.result_))).exp(), per_class(gradient), dim};
  }
};

}  // namespace

const Rule& logsumexp() {
  static const LogsumexpRule rule;
  return rule;
}

}  // namespace flightdeck::rules
