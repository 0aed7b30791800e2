// SPDX-License-Identifier: MIT
// Batch normalisation. With running statistics it is an affine map per channel. With batch
// statistics it couples the samples, unless they sit in the channel dimension: instance norm runs
// as batch norm on [1, N*C, ...].
#include <ATen/ATen.h>

#include "rules/broadcast.h"
#include "rules/rule.h"

namespace flightdeck::rules {
namespace {

using compat::nodes::CudnnBatchNormBackward0;
using compat::nodes::NativeBatchNormBackward0;

struct Statistics {
  Tensor input, weight, mean, inverse_std;
};

bool is_cudnn(const NodeView& node) { return node.name() == "CudnnBatchNormBackward0"; }

bool is_training(const NodeView& node) {
  return is_cudnn(node) ? node.as<CudnnBatchNormBackward0>().training
                        : node.as<NativeBatchNormBackward0>().training;
}

template <typename NodeType>
Statistics statistics_of(const NodeView& node, double eps) {
  const auto& norm = node.as<NodeType>();
  Statistics statistics;
  statistics.input = node.unpack(norm.input_);
  statistics.weight = node.unpack(norm.weight_);
  if (norm.training) {
    statistics.mean = node.unpack(norm.result1_);
    statistics.inverse_std = node.unpack(norm.result2_);
  } else {
    statistics.mean = node.unpack(norm.running_mean_);
    statistics.inverse_std = node.unpack(norm.running_var_).add(eps).rsqrt();
  }
  return statistics;
}

Statistics statistics_of(const NodeView& node) {
  return is_cudnn(node) ? statistics_of<CudnnBatchNormBackward0>(
                              node, node.as<CudnnBatchNormBackward0>().epsilon)
                        : statistics_of<NativeBatchNormBackward0>(
                              node, node.as<NativeBatchNormBackward0>().eps);
}

// [C] -> [C, 1, ...], broadcasting along dimension 1.
Tensor per_channel(const Tensor& values, int64_t rank) {
  Shape sizes(rank - 1, 1);
  sizes[0] = -1;
  return values.view(sizes);
}

class BatchNormRule final : public Rule {
 public:
  std::vector<std::string_view> nodes() const override {
    return {"CudnnBatchNormBackward0", "NativeBatchNormBackward0"};
  }

  Layout input_layout(const NodeView& node, size_t edge, const Layout& out) const override {
    if (!out.is_batch()) return Layout::unknown();
    if (out.dim == 1) return edge == 0 ? out : out.at_dim(0);
    if (is_training(node)) return Layout::of(Layout::Kind::kCoupled, out.N);
    return edge == 0 ? out : Layout::free();
  }

  Rows rows(const NodeView& node,
            size_t edge,
            const Tensor& gradient,
            const Layout& out) const override {
    if (edge == 2) return channel_rows(gradient, out, "sum");
    const Statistics statistics = statistics_of(node);
    const int64_t rank = gradient.dim();
    const Tensor contribution = statistics.input.sub(per_channel(statistics.mean, rank))
                                    .mul_(per_channel(statistics.inverse_std, rank))
                                    .mul(gradient);
    return channel_rows(contribution, out, "scale");
  }

  bool is_linear(const NodeView& node) const override {
    return !is_training(node) && !node.has_input(1) && !node.has_input(2);
  }
  bool is_linear_in(const NodeView& node, size_t edge) const override {
    return edge > 0 || !is_training(node);
  }

  // With the statistics held constant: dx = dy * w * inverse_std.
  Tensor vjp(const NodeView& node, size_t edge, const Tensor& gradient) const override {
    TORCH_INTERNAL_ASSERT(edge == 0);
    const Statistics statistics = statistics_of(node);
    Tensor slope = statistics.inverse_std;
    if (statistics.weight.defined()) slope = slope * statistics.weight;
    return gradient.mul(per_channel(slope, gradient.dim()));
  }
};

}  // namespace

const Rule& batch_norm() {
  static const BatchNormRule rule;
  return rule;
}

}  // namespace flightdeck::rules
