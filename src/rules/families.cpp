// SPDX-License-Identifier: MIT
#include "rules/families.h"

#include <algorithm>
#include <limits>
#include <string>
#include <unordered_set>

#include <ATen/ATen.h>
#include <ATen/core/Reduction.h>

#include "rules/stacks.h"

namespace flightdeck {
namespace {

bool is_mean(const NodeView& node) { return node.name().rfind("MeanBackward", 0) == 0; }
bool is_sum(const NodeView& node) { return node.name().rfind("SumBackward", 0) == 0; }

}  // namespace

bool PointwiseRule::is_linear(const NodeView& node) const {
  static const std::unordered_set<std::string> linear = {"Deg2RadBackward0",
                                                         "FusedDropoutBackward0",
                                                         "MaskedFillBackward0",
                                                         "NativeDropoutBackward0",
                                                         "NegBackward0",
                                                         "NegViewBackward0",
                                                         "RsubBackward0",
                                                         "RsubBackward1",
                                                         "WhereBackward0"};
  return linear.count(node.name()) > 0;
}

std::optional<double> PointwiseRule::summand(const NodeView& node, size_t) const {
  const std::string name = node.name();
  if (name == "NegBackward0") return -1;
  const bool is_difference = name == "RsubBackward0" || name == "RsubBackward1";
  if (is_difference) return std::numeric_limits<double>::quiet_NaN();
  return std::nullopt;
}

Tensor PointwiseRule::summed_values(const NodeView& node) const {
  if (node.name() != "AbsBackward0") return {};  // of the absolute error
  return node.unpack(node.as<compat::nodes::AbsBackward0>().self_).abs();
}

bool PointwiseRule::is_homogeneous(const NodeView& node) const {
  return node.name() == "NegBackward0";
}

Layout PointwiseRule::input_layout(const NodeView& node, size_t edge, const Layout& out) const {
  return broadcast_layout(out, node.output_shape(), node.input_shape(edge));
}

Layout PointwiseLossRule::input_layout(const NodeView& node, size_t edge, const Layout& out) const {
  const Shape input = node.input_shape(edge);
  if (out.is_reduced() && !input.empty()) return leading_layout(out.N, input, node.name());
  return PointwiseRule::input_layout(node, edge, out);
}

std::optional<Reduction> to_reduction(int64_t field) {
  if (field == at::Reduction::Mean) return Reduction::kMean;
  if (field == at::Reduction::Sum) return Reduction::kSum;
  return std::nullopt;
}

std::optional<Reduction> PointwiseLossRule::reduction(const NodeView& node) const {
  namespace nodes = compat::nodes;
  const std::string name = node.name();
  const auto read = [&](const auto& typed) { return to_reduction(typed.reduction); };
  if (name == "MseLossBackward0") return read(node.as<nodes::MseLossBackward0>());
  if (name == "HuberLossBackward0") return read(node.as<nodes::HuberLossBackward0>());
  if (name == "SmoothL1LossBackward0") return read(node.as<nodes::SmoothL1LossBackward0>());
  if (name == "SoftMarginLossBackward0") return read(node.as<nodes::SoftMarginLossBackward0>());
  if (name == "BinaryCrossEntropyBackward0") {
    return read(node.as<nodes::BinaryCrossEntropyBackward0>());
  }
  if (name == "BinaryCrossEntropyWithLogitsBackward0") {
    return read(node.as<nodes::BinaryCrossEntropyWithLogitsBackward0>());
  }
  return std::nullopt;
}

Tensor PointwiseLossRule::summed_values(const NodeView& node) const {
  namespace nodes = compat::nodes;
  const std::string name = node.name();
  constexpr auto none = at::Reduction::None;
  const auto self = [&](const auto& loss) { return node.unpack(loss.self_); };
  const auto target = [&](const auto& loss) { return node.unpack(loss.target_); };
  Tensor values;
  if (name == "MseLossBackward0") {
    const auto& loss = node.as<nodes::MseLossBackward0>();
    values = at::mse_loss(self(loss), target(loss), none);
  } else if (name == "HuberLossBackward0") {
    const auto& loss = node.as<nodes::HuberLossBackward0>();
    values = at::huber_loss(self(loss), target(loss), none, loss.delta);
  } else if (name == "SmoothL1LossBackward0") {
    const auto& loss = node.as<nodes::SmoothL1LossBackward0>();
    values = at::smooth_l1_loss(self(loss), target(loss), none, loss.beta);
  } else if (name == "SoftMarginLossBackward0") {
    const auto& loss = node.as<nodes::SoftMarginLossBackward0>();
    values = at::soft_margin_loss(self(loss), target(loss), none);
  } else if (name == "BinaryCrossEntropyBackward0") {
    const auto& loss = node.as<nodes::BinaryCrossEntropyBackward0>();
    values = at::binary_cross_entropy(self(loss), target(loss), node.unpack(loss.weight_), none);
  } else if (name == "BinaryCrossEntropyWithLogitsBackward0") {
    const auto& loss = node.as<nodes::BinaryCrossEntropyWithLogitsBackward0>();
    values = at::binary_cross_entropy_with_logits(
        self(loss), target(loss), node.unpack(loss.weight_), node.unpack(loss.pos_weight_), none);
  }
  const bool is_mean = reduction(node) == Reduction::kMean;
  return values.defined() && is_mean ? values / values.numel() : values;
}

// Returns how a loss starts: the absolute difference has no curvature, and the divergence none that
// its inputs would change.
LossStart PointwiseLossRule::loss_start(const NodeView& node) const {
  const std::string name = node.name();
  const bool is_flat = name == "KlDivBackward0" || name == "L1LossBackward0";
  return is_flat ? LossStart::kNone : LossStart::kPointwise;
}

Tensor PointwiseLossRule::label_probability(const NodeView& node) const {
  if (node.name() != "BinaryCrossEntropyWithLogitsBackward0") return {};
  const auto& loss = node.as<compat::nodes::BinaryCrossEntropyWithLogitsBackward0>();
  const bool is_plain = !node.unpack(loss.pos_weight_).defined();
  return is_plain ? node.unpack(loss.self_).sigmoid() : Tensor();
}

Layout AlongDimsRule::input_layout(const NodeView& node, size_t edge, const Layout& out) const {
  if (!out.is_batch()) return out;
  const size_t rank = node.output_shape().size();
  if (node.input_shape(edge).size() != rank) return Layout::unknown();
  for (int64_t dim : dims_(node)) {
    if (wrap(dim, rank) == out.dim) return mixes_ ? Layout::mixed() : Layout::unknown();
  }
  return out;
}

Layout ReductionRule::input_layout(const NodeView& node, size_t edge, const Layout& out) const {
  const Shape input = node.input_shape(edge);
  Reduced reduced = describe_(node);
  Shape dims;
  for (int64_t dim : reduced.dims) dims.push_back(wrap(dim, input.size()));
  const auto is_reduced = [&dims](int64_t dim) {
    return dims.empty() || std::find(dims.begin(), dims.end(), dim) != dims.end();
  };
  if (out.is_reduced()) {
    if (product(input) == 1) return out;
    return is_reduced(0) ? leading_layout(out.N, input, node.name()) : Layout::unknown();
  }
  if (!out.is_batch()) return out;
  // This looks for the out.dim-th of the dimensions that are still there.
  int64_t position = 0;
  for (int64_t dim = 0; dim < static_cast<int64_t>(input.size()); ++dim) {
    const bool is_kept = reduced.keepdim || !is_reduced(dim);
    if (!is_kept) continue;
    if (position++ != out.dim) continue;
    return is_reduced(dim) ? Layout::mixed() : out.at_dim(dim);
  }
  return Layout::unknown();
}

std::optional<double> ReductionRule::summand(const NodeView& node, size_t edge) const {
  if (is_sum(node)) return 1;
  if (!is_mean(node)) return std::nullopt;
  return static_cast<double>(product(node.output_shape())) /
         static_cast<double>(product(node.input_shape(edge)));
}

std::optional<Reduction> ReductionRule::reduction(const NodeView& node) const {
  if (is_mean(node)) return Reduction::kMean;
  return is_sum(node) ? std::optional<Reduction>(Reduction::kSum) : std::nullopt;
}

bool ReductionRule::is_linear(const NodeView& node) const { return is_mean(node) || is_sum(node); }

Tensor ReductionRule::columns(const NodeView& node, size_t edge, const Tensor& stack) const {
  if (!is_linear(node)) return {};
  const Shape input = node.input_shape(edge);
  const Reduced reduced = describe_(node);
  Shape kept = input;
  Shape dims = reduced.dims;
  if (dims.empty()) {
    for (size_t k = 0; k < input.size(); ++k) dims.push_back(static_cast<int64_t>(k));
  }
  int64_t count = 1;
  for (int64_t dim : dims) {
    count *= input[wrap(dim, input.size())];
    kept[wrap(dim, input.size())] = 1;
  }
  const Tensor spread = stack.reshape(with_lead(stack.size(0), kept));
  const Tensor scaled = is_mean(node) ? spread.div(static_cast<double>(count)) : spread;
  return scaled.expand(with_lead(stack.size(0), input));
}

Tensor ReductionRule::tangent(const NodeView& node, const std::vector<Tensor>& tangents) const {
  if (!is_linear(node)) return {};
  const Reduced reduced = describe_(node);
  const size_t rank = node.input_shape(0).size();
  Shape dims;
  for (int64_t dim : reduced.dims) dims.push_back(wrap(dim, rank) + 1);
  for (size_t k = 1; reduced.dims.empty() && k <= rank; ++k) {
    dims.push_back(static_cast<int64_t>(k));
  }
  if (dims.empty()) return tangents[0];
  const Tensor sum = is_mean(node) ? tangents[0].mean(dims, reduced.keepdim)
                                   : tangents[0].sum(dims, reduced.keepdim);
  return sum.reshape(with_lead(sum.size(0), node.output_shape()));
}

}  // namespace flightdeck
