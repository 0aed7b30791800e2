// SPDX-License-Identifier: MIT
// Negative log-likelihood: picks one of the classes in dimension 1, which the output lacks.
#include <ATen/ATen.h>
#include <ATen/core/Reduction.h>

#include "rules/families.h"

namespace flightdeck::rules {
namespace {

class NllLossRule final : public Rule {
 public:
  std::vector<std::string_view> nodes() const override {
    return {"NllLossBackward0", "NllLoss2DBackward0"};
  }

  Layout input_layout(const NodeView& node, size_t edge, const Layout& out) const override {
    if (out.is_reduced()) return leading_layout(out.N, node.input_shape(edge), node.name());
    if (!out.is_batch()) return Layout::unknown();
    return out.at_dim(out.dim == 0 ? 0 : out.dim + 1);
  }

  bool is_linear(const NodeView&) const override { return true; }

  std::optional<Reduction> reduction(const NodeView& node) const override {
    return to_reduction(node.name() == "NllLossBackward0"
                            ? node.as<compat::nodes::NllLossBackward0>().reduction
                            : node.as<compat::nodes::NllLoss2DBackward0>().reduction);
  }

  // Returns the losses per label; a mean divides them by the sum of the weights of the labels.
  Tensor summed_values(const NodeView& node) const override {
    const auto read = [&](const auto& loss) {
      const Tensor values = at::nll_loss_nd(node.unpack(loss.self_),
                                            node.unpack(loss.target_),
                                            node.unpack(loss.weight_),
                                            at::Reduction::None,
                                            compat::to_int(loss.ignore_index));
      const bool is_mean = reduction(node) == Reduction::kMean;
      return is_mean ? values / node.unpack(loss.total_weight_) : values;
    };
    return node.name() == "NllLossBackward0" ? read(node.as<compat::nodes::NllLossBackward0>())
                                             : read(node.as<compat::nodes::NllLoss2DBackward0>());
  }
};

}  // namespace

const Rule& nll_loss() {
  static const NllLossRule rule;
  return rule;
}

}  // namespace flightdeck::rules
