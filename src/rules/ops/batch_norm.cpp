// SPDX-License-Identifier: MIT
// Batch normalisation. With running statistics it is an affine map per channel. With batch
// statistics it couples the samples, unless they sit in the channel dimension: instance norm runs
// as batch norm on [1, N*C, ...].
#include <ATen/ATen.h>

#include "rules/broadcast.h"
#include "rules/rule.h"
#include "rules/stacks.h"

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

// Shapes [C] as [C, 1, ...], which broadcasts along dimension 1.
Tensor per_channel(const Tensor& values, int64_t rank) {
  Shape sizes(rank - 1, 1);
  sizes[0] = -1;
  return values.view(sizes);
}

Tensor normalised(const Statistics& statistics) {
  const int64_t rank = statistics.input.dim();
  return statistics.input.sub(per_channel(statistics.mean, rank))
      .mul_(per_channel(statistics.inverse_std, rank));
}

// Returns what one entry is multiplied by: weight over standard deviation.
Tensor slope(const Statistics& statistics) {
  const Tensor slope = statistics.weight.defined() ? statistics.inverse_std * statistics.weight
                                                   : statistics.inverse_std;
  return per_channel(slope, statistics.input.dim());
}

// Returns the dimensions of a stack [K, N, C, ...] but those of columns and channels.
Shape all_but_channels(const Tensor& stack) {
  Shape dims{1};
  for (int64_t d = 3; d < stack.dim(); ++d) dims.push_back(d);
  return dims;
}

// Computes g - mean(g) - x_hat mean(g x_hat) in each channel, with batch statistics.
Tensor project(const NodeView& node, const Statistics& statistics, const Tensor& stack) {
  if (!is_training(node)) return stack;
  const Tensor x_hat = normalised(statistics);
  const Shape dims = all_but_channels(stack);
  return stack - stack.mean(dims, true) - x_hat * (stack * x_hat).mean(dims, true);
}

class BatchNormRule final : public Rule {
 public:
  std::vector<std::string_view> nodes() const override {
    return {"CudnnBatchNormBackward0", "NativeBatchNormBackward0"};
  }

  LayerKind layer_kind(const NodeView&) const override { return LayerKind::kNorm; }

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
    return channel_rows(normalised(statistics_of(node)).mul(gradient), out, "scale");
  }

  Tensor columns(const NodeView& node, size_t edge, const Tensor& stack) const override {
    if (edge == 2) return sum_to_channels(stack);
    const Statistics statistics = statistics_of(node);
    if (edge == 1) return sum_to_channels(stack * normalised(statistics));
    return project(node, statistics, stack) * slope(statistics);
  }

  Tensor tangent(const NodeView& node, const std::vector<Tensor>& tangents) const override {
    const Statistics statistics = statistics_of(node);
    const size_t rank = node.output_shape().size();
    Tensor total;
    const auto add = [&total](const Tensor& part) {
      total = total.defined() ? total.add(part) : part;
    };
    if (tangents[0].defined()) add(project(node, statistics, tangents[0]) * slope(statistics));
    if (tangents[1].defined()) add(align_channels(tangents[1], rank) * normalised(statistics));
    if (tangents[2].defined()) add(align_channels(tangents[2], rank));
    return total.expand(with_lead(total.size(0), node.output_shape()));
  }

  bool is_linear(const NodeView& node) const override {
    return !is_training(node) && !node.has_input(1) && !node.has_input(2);
  }
  bool is_linear_in(const NodeView& node, size_t edge) const override {
    return edge > 0 || !is_training(node);
  }

  // Computes dx = dy * w * inverse_std, with the statistics held constant.
  Tensor vjp(const NodeView& node, size_t edge, const Tensor& gradient) const override {
    TORCH_INTERNAL_ASSERT(edge == 0);
    return gradient.mul(slope(statistics_of(node)));
  }
};

}  // namespace

const Rule& batch_norm() {
  static const BatchNormRule rule;
  return rule;
}

}  // namespace flightdeck::rules
