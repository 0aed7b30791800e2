// SPDX-License-Identifier: MIT
// What enters the loss of a classifier: scale of the logits, margins, predictions and targets.
#include <cmath>
#include <limits>

#include <ATen/ATen.h>

#include "flightdeck/quantity.h"
#include "quantities/class_counts.h"
#include "quantities/graph_values.h"
#include "rules/kept_values.h"

namespace flightdeck::quantities {
namespace {

namespace nodes = compat::nodes;

// Rows of log-probabilities [M, C] and the node that gave them.
struct Outputs {
  Tensor log_probabilities;
  size_t node = 0;
};

Outputs find_outputs(const Capture& capture) {
  for (const size_t head : find_loss_nodes(capture).heads) {
    const auto* softmax = dynamic_cast<const nodes::LogSoftmaxBackward0*>(capture.nodes[head].node);
    if (softmax == nullptr) continue;
    const Tensor result = capture.view(head).unpack(softmax->result_);
    if (!result.defined() || result.numel() == 0) continue;
    const Tensor last = result.movedim(compat::to_int(softmax->dim), -1);
    return {last.reshape({-1, last.size(-1)}).to(at::kDouble), head};
  }
  return {};
}

// True of ops that give the same rows another shape.
bool keeps_rows(const CapturedNode& node) {
  return dynamic_cast<const nodes::ViewBackward0*>(node.node) != nullptr ||
         dynamic_cast<const nodes::UnsafeViewBackward0*>(node.node) != nullptr ||
         dynamic_cast<const nodes::ReshapeAliasBackward0*>(node.node) != nullptr;
}

// The parameter that a node is the leaf of, or nothing.
const Tensor* leaf_of(const Capture& capture, const Parameters& parameters, int64_t node) {
  const int64_t parameter = node < 0 ? -1 : capture.nodes[node].parameter;
  return parameter < 0 ? nullptr : &parameters[parameter].tensor;
}

// The transpose of a parameter: what a product keeps only if its other factor has a gradient.
Tensor transposed_leaf(const Capture& capture, const Parameters& parameters, int64_t node) {
  const bool is_transpose =
      node >= 0 && dynamic_cast<const nodes::TBackward0*>(capture.nodes[node].node) != nullptr;
  const Tensor* leaf =
      is_transpose ? leaf_of(capture, parameters, capture.nodes[node].next[0]) : nullptr;
  return leaf == nullptr ? Tensor() : leaf->detach().t();
}

// The first logit of every row, computed again from what the last linear layer has kept: one column
// of its product. Undefined if the layer is of another kind.
Tensor first_logits(const Capture& capture, const Parameters& parameters, size_t head) {
  int64_t k = capture.nodes[head].next.empty() ? -1 : capture.nodes[head].next[0];
  Tensor bias;
  for (;;) {
    if (k < 0) return {};
    const CapturedNode& node = capture.nodes[k];
    if (const auto* add = dynamic_cast<const nodes::AddBackward0*>(node.node)) {
      const Tensor* summand = leaf_of(capture, parameters, node.next[1]);
      if (bias.defined() || summand == nullptr || add->alpha.toDouble() != 1) return {};
      bias = *summand;
    } else if (!keeps_rows(node)) {
      break;
    }
    k = node.next[0];
  }
  const NodeView view = capture.view(k);
  const CapturedNode& node = capture.nodes[k];
  const auto* addmm = dynamic_cast<const nodes::AddmmBackward0*>(node.node);
  if (addmm == nullptr && dynamic_cast<const nodes::MmBackward0*>(node.node) == nullptr) return {};
  if (addmm != nullptr) {
    const Tensor* summand = leaf_of(capture, parameters, node.next[0]);
    const bool is_plain = addmm->alpha.toDouble() == 1 && addmm->beta.toDouble() == 1;
    if (bias.defined() || summand == nullptr || !is_plain) return {};
    bias = *summand;
  }
  const int64_t left_edge = addmm != nullptr ? 1 : 0;
  Tensor left, right;
  for (const KeptValue& kept : kept_values(view)) {
    (kept.place == left_edge ? left : right) = kept.value;
  }
  if (!right.defined()) right = transposed_leaf(capture, parameters, node.next[left_edge + 1]);
  if (!left.defined() || !right.defined()) return {};
  const Tensor first = at::mv(left.to(at::kDouble), right.select(1, 0).to(at::kDouble));
  if (!bias.defined()) return first;
  if (bias.numel() != right.size(1)) return {};
  return first + bias.detach().flatten()[0].to(at::kDouble);
}

// The mean over those that count, or NaN.
Tensor mean_of(const Tensor& values, const Tensor& counts) {
  return at::where(counts, values, at::zeros_like(values)).sum() / counts.sum();
}

void add_targets(Value& value, const Tensor& log_p, const GraphTargets& known) {
  const Tensor targets = known.targets.flatten();
  const int64_t C = log_p.size(1);
  if (targets.numel() != log_p.size(0)) return;
  const Tensor counts = targets != known.ignore_index;
  const Tensor places = targets.clamp(0, C - 1).unsqueeze(1);
  const Tensor own = log_p.gather(1, places).squeeze(1);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (C > 1) {
    const Tensor margins = own - log_p.scatter(1, places, -kInfinity).amax(1);
    value.with("margin", mean_of(margins, counts))
        .with("margin_smallest",
              at::where(counts, margins, at::full_like(margins, kInfinity)).amin());
  }
  value.with("accuracy", mean_of((log_p.argmax(1) == targets).to(at::kDouble), counts))
      .with("ignored", counts.logical_not().to(at::kDouble).mean());
  const ClassCounts classes = count_classes(targets, counts);
  value.with("target_classes", classes.distinct).with("target_largest", classes.largest);
  if (known.total_weight.defined() && known.total_weight.numel() == 1) {
    value.with("reduction_weight", known.total_weight.reshape({}));
  }
}

Value read_logits(const GraphView& graph) {
  const Capture& capture = graph.capture();
  const Outputs outputs = find_outputs(capture);
  if (!outputs.log_probabilities.defined()) {
    return Value::none("the loss has no log-softmax of its outputs");
  }
  const Tensor& log_p = outputs.log_probabilities;
  const Tensor p = log_p.exp();
  const Tensor centred = log_p - log_p.mean(1, /*keepdim=*/true);
  const auto C = static_cast<double>(log_p.size(1));
  Value value(centred.square().mean().sqrt());
  value.with("largest", centred.abs().amax())
      .with("entropy", at::where(p > 0, -p * log_p, at::zeros_like(p)).sum(1).mean())
      .with("confidence", p.amax(1).mean())
      .with("classes", C)
      .with("uniform_loss", std::log(C));
  const ClassCounts predicted = count_classes(log_p.argmax(1));
  value.with("predicted_classes", predicted.distinct).with("predicted_largest", predicted.largest);
  const Tensor first = first_logits(capture, graph.step().parameters(), outputs.node);
  if (first.defined() && first.numel() == log_p.size(0)) {
    const Tensor log_partition = first - log_p.select(1, 0);
    value.with("log_partition", log_partition.mean())
        .with("log_partition_largest", log_partition.abs().amax());
  }
  const GraphTargets known = graph_targets(capture);
  if (known.targets.defined()) add_targets(value, log_p, known);
  return value;
}

}  // namespace

Quantity logits(Settings&) {
  return Quantity("logits")
      .summary("Deviation of a classifier's logits; margins, predictions and targets as fields")
      .reference("from the log-softmax and the targets that the graph has kept; beyond the papers")
      .make([] {
        const auto value = std::make_shared<Value>();
        Quantity::Functions functions;
        functions.look = [value](const GraphView& graph) { *value = read_logits(graph); };
        functions.compute = [value](const StepView&) { return *value; };
        return functions;
      });
}

}  // namespace flightdeck::quantities
