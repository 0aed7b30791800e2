// SPDX-License-Identifier: MIT
// What heads of attention look at: how spread their weights are, and how large their scores get.
#include <algorithm>
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

// Follows views and products by one number (dropout too) up to a product of matrices.
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

// Returns the product of queries and keys below a softmax, times the numbers in between. What masks
// add is left out. It is undefined if something else lies between.
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

// Returns [N, heads, queries, keys] of [N, heads, ...] or [N heads, ...].
Tensor with_heads(const Tensor& values, const CapturedNode& node, int64_t N) {
  if (values.dim() == 4 && values.size(0) == N) return values;
  if (node.layout.is_batch() && node.layout.dim == 0 && !node.layout.is_scattered() &&
      values.dim() == 3 && values.size(0) == node.layout.length()) {
    return samples_first(values, node.layout)
        .reshape({node.layout.N, -1, values.size(1), values.size(2)});
  }
  return values.reshape({values.size(0), -1, values.size(-2), values.size(-1)});
}

// Holds what a line of `shared` has of one layer. A first dimension of 0 says that it is not known.
struct HeadSums {
  std::string layer;
  Tensor entropies;  // [1, heads + 2]: sums over samples and queries, how many these are, spread
  Tensor largest;    // [1, heads], of the scores' magnitudes
  Tensor bounds;     // [1, 2, heads]: the largest score is no less than this, and no more
};

// Adds what weights p = exp(log_p) [N, heads, queries, keys] of some queries say.
struct EntropySums {
  Tensor of_heads, spread;

  void add(const Tensor& p, const Tensor& log_p, const Tensor& is_seen) {
    const Tensor sums = -(p * log_p).sum(-1).sum(at::IntArrayRef({0, 2}));
    // Scores of one query differ by as much as the logarithms of its weights.
    const Tensor high = at::where(is_seen, log_p, at::full_like(p, -kNone)).amax(-1);
    const Tensor low = at::where(is_seen, log_p, at::full_like(p, kNone)).amin(-1);
    const Tensor widest = (high - low).amax().reshape({1});
    of_heads = of_heads.defined() ? of_heads + sums : sums;
    spread = spread.defined() ? at::maximum(spread, widest) : widest;
  }
  Tensor line(int64_t rows) const {  // rows: samples times queries
    const Tensor count = at::full({1}, static_cast<double>(rows), spread.options());
    return at::cat({of_heads, count, spread}).unsqueeze(0);
  }
};

// Sums over weights that a softmax has kept; scores may be undefined.
HeadSums sums_of_weights(const std::string& layer, const Tensor& p, const Tensor& scores) {
  const int64_t heads = p.size(1);
  const Tensor is_seen = p > 0;
  EntropySums entropies;
  entropies.add(p, at::where(is_seen, p, at::ones_like(p)).log(), is_seen);
  Tensor largest = at::zeros({0, heads}, p.options());
  if (scores.defined()) {
    const Tensor seen = at::where(is_seen, scores.abs(), at::zeros_like(scores));
    largest = seen.amax(at::IntArrayRef({0, 2, 3})).unsqueeze(0);
  }
  return {
      layer, entropies.line(p.size(0) * p.size(2)), largest, at::zeros({0, 2, heads}, p.options())};
}

// Returns the part of a mask or bias [.., queries or 1, keys] that some queries get.
Tensor rows_of_bias(const Tensor& bias, int64_t first, int64_t count) {
  if (bias.dim() < 2 || bias.size(-2) == 1) return bias;
  return bias.slice(-2, first, first + count);
}

// Computes the scores of a fused kernel again, some queries at a time.
void add_exact(HeadSums& sums,
               const NodeView& view,
               const compat::FusedAttention& given,
               const Tensor& log_sum_exp) {
  constexpr int64_t kQueries = 64;
  const Tensor query = view.unpack(*given.query).to(at::kDouble);
  Tensor key = view.unpack(*given.key).to(at::kDouble);
  if (key.size(1) != query.size(1)) {
    key = key.repeat_interleave(query.size(1) / key.size(1), 1);  // each stands for several
  }
  const Tensor bias = given.bias == nullptr ? Tensor() : view.unpack(*given.bias);
  const int64_t queries = query.size(2), keys = key.size(2);
  const double scale =
      given.scale != 0 ? given.scale : 1 / std::sqrt(static_cast<double>(query.size(3)));
  const Tensor places = at::arange(std::max(queries, keys), query.options().dtype(at::kLong));
  EntropySums entropies;
  Tensor largest;
  for (int64_t first = 0; first < queries; first += kQueries) {
    const int64_t count = std::min(kQueries, queries - first);
    const Tensor scores =
        at::matmul(query.slice(2, first, first + count), key.transpose(-2, -1)) * scale;
    Tensor masked = scores;
    if (bias.defined()) masked = masked + rows_of_bias(bias, first, count).to(at::kDouble);
    if (given.is_causal) {
      const Tensor own = places.slice(0, first, first + count).unsqueeze(1);
      masked = masked.masked_fill(places.slice(0, 0, keys).unsqueeze(0) > own, -kNone);
    }
    const Tensor is_seen = masked > -kNone;
    const Tensor nothing = at::zeros_like(scores);
    const Tensor totals = log_sum_exp.slice(2, first, first + count).unsqueeze(-1);
    const Tensor log_p = at::where(is_seen, masked - totals, nothing);
    entropies.add(at::where(is_seen, log_p.exp(), nothing), log_p, is_seen);
    const Tensor most =
        at::where(is_seen, scores.abs(), nothing).amax(at::IntArrayRef({0, 2, 3})).unsqueeze(0);
    largest = largest.defined() ? at::maximum(largest, most) : most;
  }
  sums.entropies = entropies.line(query.size(0) * queries);
  sums.largest = largest;
}

// Sums over a fused kernel, which keeps no weights. Of n keys the largest score lies between the
// kept logarithm less log n and that logarithm.
std::optional<HeadSums> sums_of_fused(const std::string& layer, const NodeView& view, bool exact) {
  const auto kept = kept_attention(view);
  if (!kept) return std::nullopt;
  const Tensor query = view.unpack(*kept->given.query);
  const Tensor log_sums = view.unpack(*kept->log_sum_exp);
  if (!log_sums.defined() || query.dim() != 4 || query.numel() == 0) return std::nullopt;
  const int64_t heads = query.size(1), queries = query.size(2);
  // Some kernels round the number of queries up.
  const Tensor log_sum_exp =
      log_sums.to(at::kDouble).reshape({query.size(0), heads, -1}).slice(2, 0, queries);
  const auto options = log_sum_exp.options();
  // A query that sees nothing has no such logarithm.
  const Tensor high =
      at::where(at::isfinite(log_sum_exp), log_sum_exp, at::full_like(log_sum_exp, -kNone))
          .amax(at::IntArrayRef({0, 2}));
  const auto keys = static_cast<double>(view.unpack(*kept->given.key).size(2));
  HeadSums sums{layer,
                at::zeros({0, heads + 2}, options),
                at::zeros({0, heads}, options),
                at::stack({high - std::log(keys), high}).unsqueeze(0)};
  if (exact) add_exact(sums, view, kept->given, log_sum_exp);
  return sums;
}

std::vector<HeadSums> read_heads(const GraphView& graph, bool exact) {
  const Capture& capture = graph.capture();
  const NodeLayers layers = find_layers(capture);
  const LossNodes loss = find_loss_nodes(capture);
  const auto consumers = consumers_of(capture);
  std::vector<HeadSums> all;
  std::map<std::string, int> used;
  const auto name_of = [&](size_t k) {
    std::string layer = layers.name(capture, graph.step().parameters(), k);
    const int count = ++used[layer];
    return count > 1 ? layer + "#" + std::to_string(count) : layer;
  };
  for (size_t k = capture.nodes.size(); k-- > 0;) {  // inputs first
    const CapturedNode& node = capture.nodes[k];
    const NodeView view = capture.view(k);
    const bool is_model = node.side == Side::kBatch || node.side == Side::kSlow;
    if (!is_model || loss.is_above[k]) continue;
    if (kept_attention(view)) {
      if (auto sums = sums_of_fused(name_of(k), view, exact)) all.push_back(std::move(*sums));
      continue;
    }
    const auto softmax = kept_softmax(view);
    if (!softmax || softmax->is_logarithm) continue;
    const auto rank = static_cast<int64_t>(view.output_shape().size());
    if (rank < 3 || softmax->dim != rank - 1 || !leads_to_product(capture, consumers, k)) continue;
    const Tensor weights = view.unpack(*softmax->result);
    if (!weights.defined() || weights.numel() == 0) continue;
    Tensor scores = exact ? scores_below(capture, k) : Tensor();
    if (scores.defined()) {
      scores = scores.numel() == weights.numel()
                   ? with_heads(scores.reshape(weights.sizes()), node, capture.N)
                   : Tensor();
    }
    const Tensor p = with_heads(weights, node, capture.N).to(at::kDouble);
    all.push_back(sums_of_weights(name_of(k), p, scores));
  }
  return all;
}

Value describe(const std::vector<HeadSums>& all, const StepView& step) {
  if (all.empty()) return Value::none("no attention in the graph");
  std::vector<Tensor> entropies, largest, lowest_bounds, highest_bounds;
  Value layers;
  for (size_t k = 0; k < all.size(); ++k) {
    const std::string& layer = all[k].layer;
    const Tensor &lines = step.shared()[3 * k], &scores = step.shared()[3 * k + 1];
    const Tensor& bounds = step.shared()[3 * k + 2];
    if (lines.size(0) > 0) {
      const int64_t count = lines.size(1) - 2;
      const Tensor sums = lines.sum(0);
      const Tensor of_heads = sums.slice(0, 0, count) / sums[count];
      entropies.push_back(of_heads.mean());
      layers.with("entropy:" + layer, of_heads.mean())
          .with("entropy_lowest:" + layer, of_heads.amin())
          .with("spread:" + layer, lines.select(1, count + 1).amax());
      layers.with_list("heads:" + layer, of_heads);
    }
    if (scores.size(0) > 0) {
      const Tensor of_scores = scores.amax(0);
      largest.push_back(of_scores.amax());
      layers.with("largest:" + layer, largest.back());
      layers.with_list("heads_largest:" + layer, of_scores);
    }
    if (bounds.size(0) > 0) {
      const Tensor of_heads = bounds.amax(0);  // [2, heads]
      lowest_bounds.push_back(of_heads[0].amax());
      highest_bounds.push_back(of_heads[1].amax());
      layers.with("at_least:" + layer, lowest_bounds.back())
          .with("at_most:" + layer, highest_bounds.back());
      layers.with_list("heads_at_least:" + layer, of_heads[0]);
      layers.with_list("heads_at_most:" + layer, of_heads[1]);
    }
  }
  Value value;
  if (!entropies.empty()) value = Value(at::stack(entropies).mean());
  if (!largest.empty()) value.with("largest", at::stack(largest).amax());
  if (!highest_bounds.empty()) {
    value.with("at_least", at::stack(lowest_bounds).amax())
        .with("at_most", at::stack(highest_bounds).amax());
  }
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
      settings.flag("exact", false, "computes the scores again: largest of heads, fused entropies");
  return Quantity("attention")
      .summary("Mean entropy of attention weights in nats; of layers and heads as fields and lists")
      .reference("of softmax results and log-sum-exps that the graph has kept; beyond the papers")
      .make([exact] {
        const auto sums = std::make_shared<std::vector<HeadSums>>();
        Quantity::Functions functions;
        functions.look = [sums, exact](const GraphView& graph) {
          *sums = read_heads(graph, exact);
        };
        functions.share = [sums](const StepView&) {
          std::vector<Tensor> shared;
          for (const HeadSums& layer : *sums) {
            shared.push_back(layer.entropies);
            shared.push_back(layer.largest);
            shared.push_back(layer.bounds);
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
