// SPDX-License-Identifier: MIT
#include "quantities/graph_values.h"

#include <cctype>
#include <deque>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

#include <ATen/ATen.h>

#include "rules/kept_values.h"

namespace flightdeck {
namespace {

bool is_weight_layer(LayerKind kind) {
  return kind == LayerKind::kLinear || kind == LayerKind::kConvolution ||
         kind == LayerKind::kEmbedding || kind == LayerKind::kNorm;
}

// Returns [N, ...]: by the layout of the op's outputs, or as it is where the samples come first.
Tensor with_samples_first(const Capture& capture, size_t k, size_t edge, const Tensor& value) {
  const CapturedNode& node = capture.nodes[k];
  if (node.side == Side::kBatch && node.layout.is_batch() && node.rule) {
    const Layout layout = edge < node.edges.size()
                              ? node.rule->input_layout(capture.view(k), edge, node.layout)
                              : node.layout;
    if (layout.kind == Layout::Kind::kFree) return {};
    if (layout.is_batch() && !layout.is_scattered() && layout.dim < value.dim() &&
        value.size(layout.dim) == layout.length()) {
      return samples_first(value, layout);
    }
  }
  const bool is_first = value.dim() > 0 && value.size(0) == capture.N;
  return is_first ? value : Tensor();
}

}  // namespace

std::string op_name(const Capture& capture, size_t node) {
  const std::string full = capture.nodes[node].node->name();
  const std::string words = full.substr(0, full.find("Backward"));
  std::string name;
  for (const char letter : words) {
    const bool is_upper = std::isupper(static_cast<unsigned char>(letter)) != 0;
    if (is_upper && !name.empty()) name += '_';
    name += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  return name;
}

NodeLayers find_layers(const Capture& capture) {
  const size_t count = capture.nodes.size();
  constexpr int64_t kFar = std::numeric_limits<int64_t>::max() / 2;
  NodeLayers layers{std::vector<int64_t>(count, NodeLayers::kNone),
                    std::vector<int64_t>(count, NodeLayers::kNone)};
  std::vector<int64_t> distance(count, kFar);
  for (size_t k = count; k-- > 0;) {  // producers first
    const CapturedNode& node = capture.nodes[k];
    if (node.parameter >= 0) {
      layers.parameter[k] = node.parameter;
      distance[k] = 0;
      continue;
    }
    bool is_parameter_side = node.side != Side::kBatch;
    for (const int64_t next : node.next) {
      if (next < 0 || distance[next] + 1 >= distance[k]) continue;
      distance[k] = distance[next] + 1;
      layers.parameter[k] = layers.parameter[next];
      layers.use[k] = layers.use[next];
      // This is the first node above a parameter and what rearranges it.
      is_parameter_side = capture.nodes[next].parameter >= 0 || layers.use[next] < 0;
    }
    const bool only_rearranges = node.rule && node.rule->is_view();
    if (layers.parameter[k] >= 0 && is_parameter_side && !only_rearranges) {
      layers.use[k] = static_cast<int64_t>(k);
    }
  }
  return layers;
}

std::string NodeLayers::name(const Capture& capture,
                             const Parameters& parameters,
                             size_t node) const {
  if (parameter[node] < 0) return op_name(capture, node);
  return layer_of(parameters[parameter[node]].name);
}

std::string layer_of(const std::string& parameter) {
  const size_t dot = parameter.rfind('.');
  return dot == std::string::npos ? parameter : parameter.substr(0, dot);
}

std::vector<ForwardValue> forward_values(const Capture& capture) {
  std::vector<Tensor> values(capture.nodes.size());
  for (size_t k = 0; k < capture.nodes.size(); ++k) {
    const CapturedNode& node = capture.nodes[k];
    if (node.parameter >= 0 || node.side == Side::kNone || node.side == Side::kFree) continue;
    for (const KeptValue& kept : kept_values(capture.view(k))) {
      if (kept.place == KeptValue::kOutput) {
        values[k] = kept.value;
      } else if (kept.place >= 0 && kept.place < static_cast<int64_t>(node.next.size())) {
        const int64_t next = node.next[kept.place];
        if (next < 0 || node.node->next_edge(kept.place).input_nr != 0) continue;
        if (!values[next].defined()) values[next] = kept.value;
      }
    }
  }
  std::vector<ForwardValue> known;
  for (size_t k = capture.nodes.size(); k-- > 0;) {
    const CapturedNode& node = capture.nodes[k];
    const bool is_model = node.side == Side::kBatch || node.side == Side::kSlow;
    if (values[k].defined() && node.parameter < 0 && is_model) known.push_back({k, values[k]});
  }
  return known;
}

LossNodes find_loss_nodes(const Capture& capture) {
  LossNodes loss{{}, std::vector<bool>(capture.nodes.size(), false)};
  std::vector<bool> is_seen(capture.nodes.size(), false);
  std::deque<size_t> pending = {0};
  loss.is_above[0] = true;
  while (!pending.empty()) {
    const size_t k = pending.front();
    pending.pop_front();
    const CapturedNode& node = capture.nodes[k];
    const NodeView view = capture.view(k);
    const bool starts = node.rule && node.rule->loss_start(view) != LossStart::kNone;
    bool passes_on =
        node.rule && !starts &&
        (node.rule->is_linear(view) || node.rule->is_view() || node.rule->reduction(view));
    // A node at which a parameter enters is part of the model, but that of a penalty is part of the
    // loss.
    for (size_t e = 0; e < node.edges.size(); ++e) {
      const bool is_use = node.edges[e] == EdgeKind::kUse && !capture.is_shared_term(k, e);
      passes_on = passes_on && !is_use;
    }
    if (starts) loss.heads.push_back(k);
    if (!starts && !passes_on) loss.is_above[k] = false;  // a nonlinearity of the model
    if (!passes_on) continue;
    for (size_t e = 0; e < node.next.size(); ++e) {
      const int64_t next = node.next[e];
      if (next < 0 || node.edges[e] == EdgeKind::kUse || is_seen[next]) continue;
      if (capture.is_shared_term(k, e)) continue;
      is_seen[next] = true;
      loss.is_above[next] = true;
      pending.push_back(next);
    }
  }
  return loss;
}

int64_t below_views(const Capture& capture, size_t node, size_t edge) {
  if (edge >= capture.nodes[node].next.size()) return -1;
  int64_t next = capture.nodes[node].next[edge];
  while (next >= 0 && capture.nodes[next].rule && capture.nodes[next].rule->is_view()) {
    int64_t below = -1;
    for (const int64_t candidate : capture.nodes[next].next) below = std::max(below, candidate);
    next = below;
  }
  return next;
}

std::vector<Tensor> graph_inputs(const Capture& capture) {
  std::vector<Tensor> inputs;
  std::set<std::tuple<const void*, std::vector<int64_t>, std::vector<int64_t>>> seen;
  for (size_t k = capture.nodes.size(); k-- > 0;) {
    const CapturedNode& node = capture.nodes[k];
    const bool is_model = node.side == Side::kBatch || node.side == Side::kSlow;
    if (!is_model || !node.rule || !is_weight_layer(node.rule->layer_kind(capture.view(k)))) {
      continue;
    }
    const NodeView view = capture.view(k);
    for (const KeptValue& kept : kept_values(view)) {
      const bool is_index = kept.place == KeptValue::kIndices;
      if (kept.place == KeptValue::kOutput || (!is_index && view.has_input(kept.place))) continue;
      const size_t edge = is_index ? node.edges.size() : static_cast<size_t>(kept.place);
      const Tensor value = with_samples_first(capture, k, edge, kept.value);
      if (!value.defined() || value.numel() == 0) continue;
      const auto identity =
          std::make_tuple(value.data_ptr(), value.sizes().vec(), value.strides().vec());
      if (seen.insert(identity).second) inputs.push_back(value);
    }
  }
  return inputs;
}

KeptTargets graph_targets(const Capture& capture) {
  const LossNodes loss = find_loss_nodes(capture);
  for (size_t k = 0; k < capture.nodes.size(); ++k) {
    if (!loss.is_above[k]) continue;
    if (auto kept = kept_targets(capture.view(k))) return *std::move(kept);
  }
  return {};
}

}  // namespace flightdeck
