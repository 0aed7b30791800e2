// SPDX-License-Identifier: MIT
// What heads of attention look at: how spread their weights are, and how large their scores get.
#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include <ATen/ATen.h>

#include "flightdeck/quantity.h"
#include "quantities/graph_values.h"
#include "rules/kept_values.h"
#include "rules/node_facts.h"

namespace flightdeck::quantities {
namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();

// Weights [N, heads, queries, keys] and, if asked for, the scores they were made of.
struct Heads {
  std::string layer;
  Tensor weights, scores;
};

// Through views and products by one number (dropout too) up to a product of matrices.
bool leads_to_product(const Capture& capture,
                      const std::vector<std::vector<size_t>>& consumers,
                      size_t node) {
  std::deque<size_t> pending(consumers[node].begin(), consumers[node].end());
  while (!pending.empty()) {
    const size_t k = pending.front();
    pending.pop_front();
    const CapturedNode& consumer = capture.nodes[k];
    if (is_batched_product(capture.view(k))) return true;
    const bool passes_on =
        consumer.rule && (consumer.rule->is_view() || consumer.rule->is_pointwise());
    if (passes_on) pending.insert(pending.end(), consumers[k].begin(), consumers[k].end());
  }
  return false;
}

std::vector<std::vector<size_t>> consumers_of(const Capture& capture) {
  std::vector<std::vector<size_t>> consumers(capture.nodes.size());
  for (size_t k = 0; k < capture.nodes.size(); ++k) {
    for (const int64_t next : capture.nodes[k].next) {
      if (next >= 0) consumers[next].push_back(k);
    }
  }
  return consumers;
}

// The product of queries and keys below a softmax, times the numbers in between. What masks add is
// left out. Undefined if something else lies between.
Tensor scores_below(const Capture& capture, size_t softmax) {
  double factor = 1;
  int64_t k = below_views(capture, softmax, 0);
  while (k >= 0) {
    const CapturedNode& node = capture.nodes[k];
    const NodeView view = capture.view(k);
    if (is_batched_product(view)) {
      const std::vector<KeptValue> kept = kept_values(view);
      if (kept.size() != 2) return {};
      return at::bmm(kept[0].value.to(at::kDouble), kept[1].value.to(at::kDouble)) * factor;
    }
    const std::optional<double> number = constant_factor(view);
    if (!number && !(node.rule && node.rule->is_pointwise())) return {};
    factor *= number.value_or(1);
    k = below_views(capture, k, 0);
  }
  return {};
}

// [N, heads, queries, keys] of [N, heads, ...] or [N heads, ...].
Tensor with_heads(const Tensor& values, const CapturedNode& node, int64_t N) {
  if (values.dim() == 4 && values.size(0) == N) return values;
  if (node.layout.is_batch() && node.layout.dim == 0 && !node.layout.is_scattered() &&
      values.dim() == 3 && values.size(0) == node.layout.length()) {
    return samples_first(values, node.layout)
        .reshape({node.layout.N, -1, values.size(1), values.size(2)});
  }
  return values.reshape({values.size(0), -1, values.size(-2), values.size(-1)});
}

std::vector<Heads> read_heads(const GraphView& graph, bool with_scores) {
  const Capture& capture = graph.capture();
  const NodeLayers layers = find_layers(capture);
  const LossNodes loss = find_loss_nodes(capture);
  const auto consumers = consumers_of(capture);
  std::vector<Heads> all;
  std::map<std::string, int> used;
  for (size_t k = capture.nodes.size(); k-- > 0;) {  // inputs first
    const CapturedNode& node = capture.nodes[k];
    const NodeView view = capture.view(k);
    const bool is_model = node.side == Side::kBatch || node.side == Side::kSlow;
    if (!is_model || loss.is_above[k]) continue;
    const auto softmax = kept_softmax(view);
    if (!softmax || softmax->is_logarithm) continue;
    const auto rank = static_cast<int64_t>(view.output_shape().size());
    if (rank < 3 || softmax->dim != rank - 1 || !leads_to_product(capture, consumers, k)) continue;
    const Tensor weights = view.unpack(*softmax->result);
    if (!weights.defined() || weights.numel() == 0) continue;
    std::string layer = layers.name(capture, graph.step().parameters(), k);
    const int count = ++used[layer];
    if (count > 1) layer += "#" + std::to_string(count);
    Heads heads{layer, with_heads(weights, node, capture.N).to(at::kDouble), {}};
    if (with_scores) {
      const Tensor scores = scores_below(capture, k);
      if (scores.defined() && scores.numel() == weights.numel()) {
        heads.scores = with_heads(scores.reshape(weights.sizes()), node, capture.N);
      }
    }
    all.push_back(std::move(heads));
  }
  return all;
}

// What a line of `shared` has of one layer, and the heads' largest scores where they are known.
struct HeadSums {
  std::string layer;
  Tensor entropies;  // [1, heads + 2]: sums over samples and queries, how many these are, spread
  Tensor largest;    // [1, heads], or [0, heads]
};

std::vector<HeadSums> sum_up(const std::vector<Heads>& all) {
  std::vector<HeadSums> sums;
  for (const Heads& heads : all) {
    const Tensor& p = heads.weights;
    const Tensor is_seen = p > 0;
    const Tensor log_p = at::where(is_seen, p, at::ones_like(p)).log();
    const Tensor of_heads = -(p * log_p).sum(-1).sum(at::IntArrayRef({0, 2}));
    const Tensor count = at::full({1}, static_cast<double>(p.size(0) * p.size(2)), p.options());
    // Scores of one query differ by as much as the logarithms of its weights.
    const Tensor high = at::where(is_seen, log_p, at::full_like(p, -kNone)).amax(-1);
    const Tensor low = at::where(is_seen, log_p, at::full_like(p, kNone)).amin(-1);
    const Tensor spread = (high - low).amax().reshape({1});
    Tensor largest = at::zeros({0, of_heads.numel()}, p.options());
    if (heads.scores.defined()) {
      const Tensor seen = at::where(is_seen, heads.scores.abs(), at::zeros_like(heads.scores));
      largest = seen.amax(at::IntArrayRef({0, 2, 3})).unsqueeze(0);
    }
    sums.push_back({heads.layer, at::cat({of_heads, count, spread}).unsqueeze(0), largest});
  }
  return sums;
}

Value describe(const std::vector<HeadSums>& all, const StepView& step) {
  if (all.empty()) return Value::none("no softmax of attention in the graph");
  std::vector<Tensor> entropies, largest;
  Value layers;
  for (size_t k = 0; k < all.size(); ++k) {
    const std::string& layer = all[k].layer;
    const Tensor &lines = step.shared()[2 * k], &scores = step.shared()[2 * k + 1];
    const int64_t count = lines.size(1) - 2;
    const Tensor sums = lines.sum(0);
    const Tensor of_heads = sums.slice(0, 0, count) / sums[count];
    entropies.push_back(of_heads.mean());
    layers.with("entropy:" + layer, of_heads.mean())
        .with("entropy_lowest:" + layer, of_heads.amin())
        .with("spread:" + layer, lines.select(1, count + 1).amax());
    layers.with_list("heads:" + layer, of_heads);
    if (scores.size(0) == 0) continue;
    const Tensor of_scores = scores.amax(0);
    largest.push_back(of_scores.amax());
    layers.with("largest:" + layer, largest.back());
    layers.with_list("heads_largest:" + layer, of_scores);
  }
  Value value(at::stack(entropies).mean());
  if (!largest.empty()) value.with("largest", at::stack(largest).amax());
  for (const Value::Field& field : layers.fields()) {
    if (field.kind == Value::Field::Kind::kList) {
      value.with_list(field.name, field.data);
    } else {
      value.with(field.name, field.data);
    }
  }
  return value;
}

}  // namespace

Quantity attention(Settings& settings) {
  const bool exact =
      settings.flag("exact", false, "computes the scores again, for the largest of each head");
  return Quantity("attention")
      .summary("Mean entropy of attention weights in nats; of layers and heads as fields and lists")
      .reference("of the softmax results that the graph has kept; beyond the papers")
      .make([exact] {
        const auto sums = std::make_shared<std::vector<HeadSums>>();
        Quantity::Functions functions;
        functions.look = [sums, exact](const GraphView& graph) {
          *sums = sum_up(read_heads(graph, exact));
        };
        functions.share = [sums](const StepView&) {
          std::vector<Tensor> shared;
          for (const HeadSums& layer : *sums) {
            shared.push_back(layer.entropies);
            shared.push_back(layer.largest);
          }
          return shared;
        };
        functions.compute = [sums](const StepView& step) {
          return describe(std::exchange(*sums, {}), step);
        };
        return functions;
      });
}

}  // namespace flightdeck::quantities
