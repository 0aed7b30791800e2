// SPDX-License-Identifier: MIT
#include "rules/node_facts.h"

#include <ATen/ATen.h>
#include <ATen/core/Reduction.h>

#include "rules/kept_values.h"

namespace flightdeck {
namespace {

namespace nodes = compat::nodes;

template <typename NodeType>
const NodeType* typed(const NodeView& node) {
  return dynamic_cast<const NodeType*>(node.node());
}

template <typename... NodeTypes>
bool is_any(const NodeView& node) {
  return (... || (typed<NodeTypes>(node) != nullptr));
}

int64_t from_front(int64_t dim, size_t rank) {
  return dim < 0 ? dim + static_cast<int64_t>(rank) : dim;
}

template <typename NodeType>
KeptTargets targets_of(const NodeView& view, const NodeType& node) {
  // The total weight has no meaning for losses that are not reduced.
  const bool is_reduced = node.reduction != at::Reduction::None;
  return {view.unpack(node.self_),
          view.unpack(node.target_),
          compat::to_int(node.ignore_index),
          is_reduced ? view.unpack(node.total_weight_) : Tensor()};
}

// Returns true for a mask of dropout, which on the CPU is a product with zeros and one other
// number.
bool is_mask(const Tensor& mask) {
  if (!mask.is_cpu() || mask.numel() < 2 || !at::isFloatingType(mask.scalar_type())) return false;
  const double largest = mask.max().item<double>();
  if (!(largest > 1) || mask.min().item<double>() != 0) return false;
  return (mask == 0).logical_or_(mask == largest).all().item<bool>();
}

}  // namespace

std::optional<KeptSoftmax> kept_softmax(const NodeView& node) {
  compat::SavedSoftmax saved;
  if (!compat::read_softmax(*node.node(), saved)) return std::nullopt;
  return KeptSoftmax{saved.result,
                     from_front(saved.dim, node.output_shape().size()),
                     is_any<nodes::LogSoftmaxBackward0>(node)};
}

std::optional<KeptAttention> kept_attention(const NodeView& node) {
  compat::FusedAttention given;
  if (!compat::read_attention(*node.node(), given)) return std::nullopt;
  const compat::ag::SavedVariable* log_sum_exp = compat::saved_log_sum_exp(*node.node());
  if (log_sum_exp == nullptr) return std::nullopt;
  return KeptAttention{given, log_sum_exp};
}

std::optional<KeptChoice> kept_choice(const NodeView& node) {
  if (!node.has_input(0)) return std::nullopt;
  const auto choice_of = [&](const auto& choice, bool is_of_maximum) {
    const int64_t dim = from_front(compat::to_int(choice.dim), node.input_shape(0).size());
    return KeptChoice{&choice.indices_, dim, is_of_maximum};
  };
  if (const auto* topk = typed<nodes::TopkBackward0>(node)) return choice_of(*topk, false);
  if (const auto* largest = typed<nodes::MaxBackward0>(node)) return choice_of(*largest, true);
  return std::nullopt;
}

std::optional<KeptTargets> kept_targets(const NodeView& node) {
  if (const auto* nll = typed<nodes::NllLossBackward0>(node)) return targets_of(node, *nll);
  if (const auto* nll = typed<nodes::NllLoss2DBackward0>(node)) return targets_of(node, *nll);
  return std::nullopt;
}

Tensor kept_binary_targets(const NodeView& node) {
  if (const auto* loss = typed<nodes::BinaryCrossEntropyWithLogitsBackward0>(node)) {
    return node.unpack(loss->target_);
  }
  if (const auto* loss = typed<nodes::BinaryCrossEntropyBackward0>(node)) {
    return node.unpack(loss->target_);
  }
  return {};
}

Tensor dropout_mask(const NodeView& node) {
  if (const auto* native = typed<nodes::NativeDropoutBackward0>(node)) {
    return node.unpack(native->result1_);
  }
  if (const auto* fused = typed<nodes::FusedDropoutBackward0>(node)) {
    return node.unpack(fused->result1_);
  }
  if (!is_any<nodes::MulBackward0>(node)) return {};
  for (const KeptValue& kept : kept_values(node)) {
    const bool is_constant = kept.place >= 0 && !node.has_input(kept.place);
    if (is_constant && kept.value.sizes().vec() == node.output_shape() && is_mask(kept.value)) {
      return kept.value;
    }
  }
  return {};
}

NormMode batch_norm_mode(const NodeView& node) {
  const auto mode = [](bool trains) {
    return trains ? NormMode::kTraining : NormMode::kEvaluating;
  };
  if (const auto* norm = typed<nodes::NativeBatchNormBackward0>(node)) return mode(norm->training);
  if (const auto* norm = typed<nodes::CudnnBatchNormBackward0>(node)) return mode(norm->training);
  return NormMode::kNone;
}

Squashing squashing(const NodeView& node) {
  if (is_any<nodes::SoftmaxBackward0, nodes::LogSoftmaxBackward0>(node)) return Squashing::kSoftmax;
  if (is_any<nodes::SigmoidBackward0>(node)) return Squashing::kSigmoid;
  const bool bounds =
      is_any<nodes::ReluBackward0, nodes::TanhBackward0, nodes::HardtanhBackward0>(node);
  return bounds ? Squashing::kOther : Squashing::kNone;
}

bool has_sigmoid_inside(const NodeView& node) {
  return is_any<nodes::BinaryCrossEntropyWithLogitsBackward0>(node);
}

bool is_reshape(const NodeView& node) {
  return is_any<nodes::ViewBackward0, nodes::UnsafeViewBackward0, nodes::ReshapeAliasBackward0>(
      node);
}

bool is_transpose(const NodeView& node) { return is_any<nodes::TBackward0>(node); }

bool is_batched_product(const NodeView& node) { return is_any<nodes::BmmBackward0>(node); }

std::optional<double> constant_factor(const NodeView& node) {
  // The node keeps a factor that is a number as it is.
  if (const auto* product = typed<nodes::MulBackward1>(node)) return product->other.toDouble();
  if (const auto* quotient = typed<nodes::DivBackward1>(node)) {
    return 1 / quotient->other.toDouble();
  }
  const bool is_quotient = is_any<nodes::DivBackward0>(node);
  if (!is_quotient && !is_any<nodes::MulBackward0>(node)) return std::nullopt;
  double factor = 1;
  for (const KeptValue& kept : kept_values(node)) {
    if (kept.place != 1 || node.has_input(1) || kept.value.numel() != 1) continue;
    const double number = kept.value.item<double>();
    factor *= is_quotient ? 1 / number : number;
  }
  return factor;
}

std::optional<double> sum_scale(const NodeView& node) {
  const auto* sum = typed<nodes::AddBackward0>(node);
  return sum == nullptr ? std::nullopt : std::optional<double>(sum->alpha.toDouble());
}

std::optional<MatrixProduct> matrix_product(const NodeView& node) {
  if (is_any<nodes::MmBackward0>(node)) return MatrixProduct{0, false, true};
  const auto* addmm = typed<nodes::AddmmBackward0>(node);
  if (addmm == nullptr) return std::nullopt;
  return MatrixProduct{1, true, addmm->alpha.toDouble() == 1 && addmm->beta.toDouble() == 1};
}

}  // namespace flightdeck
