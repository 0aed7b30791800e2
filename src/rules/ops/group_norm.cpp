// SPDX-License-Identifier: MIT
// Group normalisation: statistics per sample and group of channels, scale and shift per channel.
#include <ATen/ATen.h>

#include "rules/broadcast.h"
#include "rules/rule.h"

namespace flightdeck::rules {
namespace {

using compat::nodes::NativeGroupNormBackward0;

class GroupNormRule final : public Rule {
 public:
  std::vector<std::string_view> nodes() const override { return {"NativeGroupNormBackward0"}; }

  Layout input_layout(const NodeView&, size_t edge, const Layout& out) const override {
    if (!out.is_batch() || out.dim != 0) return Layout::unknown();
    return edge == 0 ? out : Layout::free();
  }

  Rows rows(const NodeView& node,
            size_t edge,
            const Tensor& gradient,
            const Layout& out) const override {
    if (edge == 2) return channel_rows(gradient, out, "sum");
    const auto& norm = node.as<NativeGroupNormBackward0>();
    const Tensor input = node.unpack(norm.input_);
    const Tensor mean = node.unpack(norm.result1_);  // [images, groups]
    const Tensor rstd = node.unpack(norm.result2_);
    const Tensor grouped = input.reshape({mean.size(0), mean.size(1), -1});
    const Tensor contribution =
        grouped.sub(mean.unsqueeze(2)).mul_(rstd.unsqueeze(2)).view(input.sizes()).mul(gradient);
    return channel_rows(contribution, out, "scale");
  }

  bool is_linear_in(const NodeView&, size_t edge) const override { return edge > 0; }
};

}  // namespace

const Rule& group_norm() {
  static const GroupNormRule rule;
  return rule;
}

}  // namespace flightdeck::rules
