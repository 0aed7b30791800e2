// SPDX-License-Identifier: MIT
// What enters the loss of a classifier: scale of the logits, margins, predictions and targets, and
// how its gradient is shared among the classes.
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include <ATen/ATen.h>

#include "flightdeck/quantity.h"
#include "quantities/graph_values.h"
#include "rules/kept_values.h"
#include "rules/node_facts.h"

namespace flightdeck::quantities {
namespace {

// Holds rows of log-probabilities [M, C] and the node that gave them.
struct Outputs {
  Tensor log_probabilities;
  size_t node = 0;
};

Outputs find_outputs(const Capture& capture) {
  for (const size_t head : find_loss_nodes(capture).heads) {
    const NodeView view = capture.view(head);
    const auto softmax = kept_softmax(view);
    if (!softmax || !softmax->is_logarithm) continue;
    const Tensor result = view.unpack(*softmax->result);
    if (!result.defined() || result.numel() == 0) continue;
    const Tensor last = result.movedim(softmax->dim, -1);
    return {last.reshape({-1, last.size(-1)}).to(at::kDouble), head};
  }
  return {};
}

// Returns the parameter that a node is the leaf of, or nothing if its values are not there.
const Tensor* leaf_of(const Capture& capture, const Parameters& parameters, int64_t node) {
  const int64_t parameter = node < 0 ? -1 : capture.nodes[node].parameter;
  const bool is_there = parameter >= 0 && !is_freed(parameters[parameter].tensor);
  return is_there ? &parameters[parameter].tensor : nullptr;
}

// Returns the transpose of a parameter: what a product keeps only if its other factor has a
// gradient.
Tensor transposed_leaf(const Capture& capture, const Parameters& parameters, int64_t node) {
  const bool is_turned = node >= 0 && is_transpose(capture.view(node));
  const Tensor* leaf =
      is_turned ? leaf_of(capture, parameters, capture.nodes[node].next[0]) : nullptr;
  return leaf == nullptr ? Tensor() : leaf->detach().t();
}

// Returns the first logit of every row, computed again from what the last linear layer has kept:
// one column of its product. It is undefined if the layer is of another kind.
Tensor first_logits(const Capture& capture, const Parameters& parameters, size_t head) {
  int64_t k = capture.nodes[head].next.empty() ? -1 : capture.nodes[head].next[0];
  Tensor bias;
  for (;;) {
    if (k < 0) return {};
    const CapturedNode& node = capture.nodes[k];
    if (const auto scale = sum_scale(capture.view(k))) {
      const Tensor* summand = leaf_of(capture, parameters, node.next[1]);
      if (bias.defined() || summand == nullptr || *scale != 1) return {};
      bias = *summand;
    } else if (!is_reshape(capture.view(k))) {
      break;
    }
    k = node.next[0];
  }
  const NodeView view = capture.view(k);
  const CapturedNode& node = capture.nodes[k];
  const auto product = matrix_product(view);
  if (!product) return {};
  if (product->has_bias) {
    const Tensor* summand = leaf_of(capture, parameters, node.next[0]);
    if (bias.defined() || summand == nullptr || !product->is_plain) return {};
    bias = *summand;
  }
  const auto left_edge = static_cast<int64_t>(product->left);
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

// Names places in the two lists of numbers that ranks share.
enum Sum : int64_t {
  kRows,
  kSquares,  // of centred logits
  kEntropy,
  kConfidence,
  kPartition,
  kPartitions,  // rows where it is known
  kTargets,     // rows with a target
  kCounted,     // of these, not ignored
  kMargin,
  kCorrect,
  kWeight,
  kWeights,  // ranks that have one
  kSums,
};
enum Largest : int64_t { kLargestLogit, kLargestPartition, kMinusMargin, kLargestOnes };

constexpr double kBoundless = std::numeric_limits<double>::infinity();

// Returns how often each class occurs, [1, C].
Tensor count_each(const Tensor& classes, const Tensor& counts, int64_t C) {
  const Tensor each = counts.to(at::kDouble);
  return at::zeros({C}, each.options()).index_add_(0, classes, each).unsqueeze(0);
}

// Holds what one rank has read of its samples.
struct LogitSums {
  std::vector<Tensor> sums = std::vector<Tensor>(kSums);
  std::vector<Tensor> largest = std::vector<Tensor>(kLargestOnes);
  Tensor predicted, targets, pulls;  // [1, C]; pulls: lengths of gradients, of each class together

  // Fills in what is not known: 0 in a sum, and minus infinity among the largest.
  std::vector<Tensor> shared() const {
    const auto line = [&](const std::vector<Tensor>& numbers, double none) {
      std::vector<Tensor> all;
      for (const Tensor& one : numbers) {
        all.push_back(one.defined() ? one.to(at::kDouble).reshape({})
                                    : at::full({}, none, predicted.options()));
      }
      return at::stack(all).unsqueeze(0);
    };
    return {line(sums, 0), line(largest, -kBoundless), predicted, targets, pulls};
  }
};

void read_targets(LogitSums& read, const Tensor& log_p, const Tensor& p, const KeptTargets& known) {
  const Tensor targets = known.targets.flatten();
  const int64_t C = log_p.size(1);
  if (targets.numel() != log_p.size(0)) return;
  const Tensor counts = targets != known.ignore_index;
  const Tensor places = targets.clamp(0, C - 1);
  const Tensor own = log_p.gather(1, places.unsqueeze(1)).squeeze(1);
  const auto sum_of = [&](const Tensor& values) {
    return at::where(counts, values, at::zeros_like(values)).sum();
  };
  if (C > 1) {
    const Tensor others = log_p.scatter(1, places.unsqueeze(1), -kBoundless).amax(1);
    const Tensor margins = own - others;
    read.sums[kMargin] = sum_of(margins);
    read.largest[kMinusMargin] =
        -at::where(counts, margins, at::full_like(margins, kBoundless)).amin();
  }
  read.sums[kTargets] = at::full({}, static_cast<double>(targets.numel()), log_p.options());
  read.sums[kCounted] = counts.sum();
  read.sums[kCorrect] = sum_of((log_p.argmax(1) == targets).to(at::kDouble));
  read.targets = count_each(places, counts, C);
  // The gradient of a row at its logits is p with 1 taken from the target's.
  const Tensor own_p = own.exp();
  const Tensor others = (p.square().sum(1) - own_p.square()).clamp_min(0);
  const Tensor lengths = (others + (1 - own_p).square()).sqrt();
  read.pulls = count_each(places, at::where(counts, lengths, at::zeros_like(lengths)), C);
  if (known.total_weight.defined() && known.total_weight.numel() == 1) {
    read.sums[kWeight] = known.total_weight;
    read.sums[kWeights] = at::ones({}, log_p.options());
  }
}

// Returns nothing where the loss is of another kind.
std::optional<LogitSums> read_logits(const GraphView& graph) {
  const Capture& capture = graph.capture();
  const Outputs outputs = find_outputs(capture);
  if (!outputs.log_probabilities.defined()) return std::nullopt;
  LogitSums read;
  const Tensor& log_p = outputs.log_probabilities;
  const Tensor p = log_p.exp();
  const Tensor centred = log_p - log_p.mean(1, /*keepdim=*/true);
  const Tensor best = log_p.argmax(1);
  read.sums[kRows] = at::full({}, static_cast<double>(log_p.size(0)), log_p.options());
  read.sums[kSquares] = centred.square().sum();
  read.sums[kEntropy] = at::where(p > 0, -p * log_p, at::zeros_like(p)).sum();
  read.sums[kConfidence] = p.amax(1).sum();
  read.largest[kLargestLogit] = centred.abs().amax();
  read.predicted = count_each(best, at::ones_like(best), log_p.size(1));
  read.targets = at::zeros_like(read.predicted);
  read.pulls = at::zeros_like(read.predicted);
  const Tensor first = first_logits(capture, graph.step().parameters(), outputs.node);
  if (first.defined() && first.numel() == log_p.size(0)) {
    const Tensor log_partition = first - log_p.select(1, 0);
    read.sums[kPartition] = log_partition.sum();
    read.sums[kPartitions] = read.sums[kRows];
    read.largest[kLargestPartition] = log_partition.abs().amax();
  }
  const KeptTargets known = graph_targets(capture);
  if (known.targets.defined()) read_targets(read, log_p, p, known);
  return read;
}

void add_targets(Value& value, const LogitSums& read, const std::vector<Tensor>& shared) {
  if (!read.sums[kTargets].defined()) return;
  const Tensor sums = shared[0].sum(0), classes = shared[3].sum(0), pulls = shared[4].sum(0);
  if (read.largest[kMinusMargin].defined()) {
    value.with("margin", sums[kMargin] / sums[kCounted])
        .with("margin_smallest", -shared[1].select(1, kMinusMargin).amax());
  }
  value.with("accuracy", sums[kCorrect] / sums[kCounted])
      .with("targets", sums[kTargets])
      .with("ignored", (sums[kTargets] - sums[kCounted]) / sums[kTargets])
      .with("target_classes", (classes > 0).sum().to(at::kDouble))
      .with("target_largest", classes.amax() / classes.sum())
      .with("gradient_largest", pulls.amax() / pulls.sum());
  if (read.sums[kWeights].defined()) value.with("reduction_weight", sums[kWeight]);
}

Value logits_value(const std::optional<LogitSums>& read, const std::vector<Tensor>& shared) {
  if (!read) return Value::none("the loss has no log-softmax of its outputs");
  const Tensor sums = shared[0].sum(0), largest = shared[1].amax(0), predicted = shared[2].sum(0);
  const auto C = static_cast<double>(predicted.numel());
  Value value((sums[kSquares] / (sums[kRows] * C)).sqrt());
  value.with("largest", largest[kLargestLogit])
      .with("entropy", sums[kEntropy] / sums[kRows])
      .with("confidence", sums[kConfidence] / sums[kRows])
      .with("classes", C)
      .with("uniform_loss", std::log(C))
      .with("predicted_classes", (predicted > 0).sum().to(at::kDouble))
      .with("predicted_largest", predicted.amax() / predicted.sum());
  if (read->sums[kPartitions].defined()) {
    value.with("log_partition", sums[kPartition] / sums[kPartitions])
        .with("log_partition_largest", largest[kLargestPartition]);
  }
  add_targets(value, *read, shared);
  return value;
}

}  // namespace

Quantity logits(Settings&) {
  return Quantity("logits")
      .summary("Deviation of a classifier's logits; margins, predictions and targets as fields")
      .reference("from the log-softmax and the targets that the graph has kept; beyond the papers")
      .make([] {
        const auto read = std::make_shared<std::optional<LogitSums>>();
        Quantity::Functions functions;
        functions.look = [read](const GraphView& graph) { *read = read_logits(graph); };
        functions.share = [read](const StepView&) {
          return *read ? (*read)->shared() : std::vector<Tensor>();
        };
        functions.compute = [read](const StepView& step) {
          return logits_value(std::exchange(*read, std::nullopt), step.shared());
        };
        return functions;
      });
}

}  // namespace flightdeck::quantities
