// SPDX-License-Identifier: MIT
// Facts of the graph that make a training go wrong whatever its numbers are: softmax before
// cross-entropy, layers without a nonlinearity between them, modes, the weight of the loss.
#include <algorithm>

#include <ATen/ATen.h>

#include "flightdeck/quantity.h"
#include "quantities/graph_values.h"
#include "rules/node_facts.h"

namespace flightdeck::quantities {
namespace {

bool is_model_node(const CapturedNode& node) {
  return node.parameter < 0 && (node.side == Side::kBatch || node.side == Side::kSlow);
}

// Counts the entries of the weight that enters a linear layer or a convolution; 0 if none does.
int64_t weight_entries(const Capture& capture, size_t k) {
  const CapturedNode& node = capture.nodes[k];
  if (!is_model_node(node) || !node.rule) return 0;
  const NodeView view = capture.view(k);
  const LayerKind kind = node.rule->layer_kind(view);
  if (kind != LayerKind::kLinear && kind != LayerKind::kConvolution) return 0;
  int64_t entries = 0;
  for (size_t e = 0; e < node.next.size(); ++e) {
    if (node.next[e] < 0) continue;
    const bool is_use =
        node.edges[e] == EdgeKind::kUse ||
        (node.side == Side::kSlow && (capture.nodes[node.next[e]].parameter >= 0 ||
                                      (below_views(capture, k, e) >= 0 &&
                                       capture.nodes[below_views(capture, k, e)].parameter >= 0)));
    const Shape shape = view.input_shape(e);
    if (is_use && shape.size() >= 2) entries = std::max(entries, product(shape));
  }
  return entries;
}

int64_t features_of(const Capture& capture, size_t k) {
  const Shape shape = capture.view(k).output_shape();
  const bool is_convolution =
      capture.nodes[k].rule->layer_kind(capture.view(k)) == LayerKind::kConvolution;
  return is_convolution && shape.size() > 1 ? shape[1] : shape.back();
}

struct Wiring {
  double layers = 0, nonlinearities = 0, dropouts = 0, norms_training = 0, norms_evaluating = 0;
  double linear_pairs = 0, head_softmax = 0, head_bounded = 0, head_no_log = 0;
  double cross_entropy = 0;
  std::vector<Tensor> dropped;  // shares of zeros in masks
  std::vector<std::string> remarks;
};

// Finds the next weight layer below that only linear ops separate from this one.
int64_t linear_below(const Capture& capture, size_t k) {
  const CapturedNode* node = &capture.nodes[k];
  for (;;) {
    int64_t next = -1;
    for (size_t e = 0; e < node->next.size(); ++e) {
      const bool leads = node->next[e] >= 0 && node->edges[e] == EdgeKind::kBatch;
      if (!leads) continue;
      if (next >= 0) return -1;  // two branches meet: residual connections, products
      next = node->next[e];
    }
    if (next < 0) return -1;
    if (weight_entries(capture, next) > 0) return next;
    node = &capture.nodes[next];
    const NodeView view = capture.view(next);
    const bool is_linear = node->rule && (node->rule->is_view() || node->rule->is_linear(view) ||
                                          (node->rule->layer_kind(view) == LayerKind::kAddition));
    if (!is_linear && !dropout_mask(view).defined()) return -1;
  }
}

void find_linear_pairs(const Capture& capture, const Parameters& parameters, Wiring& wiring) {
  const NodeLayers layers = find_layers(capture);
  for (size_t k = 0; k < capture.nodes.size(); ++k) {
    const int64_t entries = weight_entries(capture, k);
    if (entries == 0) continue;
    const int64_t below = linear_below(capture, k);
    if (below < 0) continue;
    // A layer narrower than both ends is a factorisation, made on purpose.
    const int64_t between = features_of(capture, below), out = features_of(capture, k);
    if (between < std::min(out, weight_entries(capture, below) / between)) continue;
    wiring.linear_pairs += 1;
    wiring.remarks.push_back("'" + layers.name(capture, parameters, below) + "' and '" +
                             layers.name(capture, parameters, k) +
                             "' follow one another without a nonlinearity");
  }
}

void find_head(const Capture& capture, Wiring& wiring) {
  for (const size_t head : find_loss_nodes(capture).heads) {
    const CapturedNode& node = capture.nodes[head];
    if (!node.rule) continue;
    const LossStart start = node.rule->loss_start(capture.view(head));
    const std::string loss = op_name(capture, head);
    if (start == LossStart::kProbabilities) {
      wiring.head_no_log = 1;
      wiring.remarks.push_back(
          "the loss is linear in the output of softmax, which lacks its logarithm; use "
          "log_softmax, or cross-entropy of the logits");
      continue;
    }
    const bool takes_logits =
        start == LossStart::kLogProbabilities || has_sigmoid_inside(capture.view(head));
    if (takes_logits) wiring.cross_entropy = 1;
    const int64_t below = below_views(capture, head, 0);
    if (!takes_logits || below < 0) continue;
    const std::string op = op_name(capture, below);
    const Squashing squashed = squashing(capture.view(below));
    const bool is_sigmoid = squashed == Squashing::kSigmoid;
    if (squashed == Squashing::kSoftmax || (is_sigmoid && start != LossStart::kLogProbabilities)) {
      wiring.head_softmax = 1;
      wiring.remarks.push_back("the outputs go through " + op +
                               " twice: the loss has one of its own (" + loss +
                               "); hand it what enters " + op);
    } else if (squashed != Squashing::kNone) {
      wiring.head_bounded = 1;
      wiring.remarks.push_back("the outputs go through " + op + " before the loss (" + loss +
                               "), which expects logits of either sign and any size");
    }
  }
}

Wiring read_wiring(const Capture& capture, const Parameters& parameters) {
  Wiring wiring;
  for (size_t k = 0; k < capture.nodes.size(); ++k) {
    const CapturedNode& node = capture.nodes[k];
    if (!is_model_node(node)) continue;
    const NodeView view = capture.view(k);
    const bool is_layer = weight_entries(capture, k) > 0 ||
                          (node.rule && node.rule->layer_kind(view) == LayerKind::kEmbedding);
    wiring.layers += is_layer ? 1 : 0;
    const NormMode mode = batch_norm_mode(view);
    wiring.norms_training += mode == NormMode::kTraining ? 1 : 0;
    wiring.norms_evaluating += mode == NormMode::kEvaluating ? 1 : 0;
    const Tensor mask = dropout_mask(view);
    const bool drops = mask.defined();
    wiring.dropouts += drops ? 1 : 0;
    if (drops) wiring.dropped.push_back((mask == 0).to(at::kDouble).mean());
    const bool is_unary = view.num_inputs() == 1;
    const bool bends =
        node.rule && node.rule->is_pointwise() && is_unary && !node.rule->is_linear(view) && !drops;
    wiring.nonlinearities += bends ? 1 : 0;
  }
  find_linear_pairs(capture, parameters, wiring);
  find_head(capture, wiring);
  return wiring;
}

Quantity::Functions make_wiring() {
  struct State {
    Wiring wiring;
    double nodes = 0, penalties = 0, couplings = 0;
    Tensor weight;
  };
  const auto state = std::make_shared<State>();
  Quantity::Functions functions;
  // All ranks run one model: its facts are those of each.
  functions.share = [](const StepView&) { return std::vector<Tensor>(); };
  functions.look = [state](const GraphView& graph) {
    const Capture& capture = graph.capture();
    state->wiring = read_wiring(capture, graph.step().parameters());
    state->nodes = static_cast<double>(capture.nodes.size());
    state->penalties = static_cast<double>(capture.shared_terms.size() + capture.left_out.size());
    state->couplings =
        static_cast<double>(capture.couplings.size() + capture.coupled_layers.size());
    state->weight = Tensor();
    const bool is_sum = capture.is_scalar && graph.batch().options().reduction == Reduction::kSum;
    const double factor = is_sum ? static_cast<double>(capture.N) : 1;
    const size_t output = capture.root_output;
    graph.listen(0, [state, factor, output](const std::vector<Tensor>& gradients) {
      if (gradients[output].defined()) {
        state->weight = gradients[output].sum(at::kDouble) * factor;
      }
    });
  };
  functions.compute = [state](const StepView&) {
    const Wiring& wiring = state->wiring;
    Value value(state->nodes);
    value.with("layers", wiring.layers)
        .with("nonlinearities", wiring.nonlinearities)
        .with("linear_pairs", wiring.linear_pairs)
        .with("head_softmax", wiring.head_softmax)
        .with("head_bounded", wiring.head_bounded)
        .with("head_no_log", wiring.head_no_log)
        .with("cross_entropy", wiring.cross_entropy)
        .with("dropouts", wiring.dropouts)
        .with("batch_norms_training", wiring.norms_training)
        .with("batch_norms_evaluating", wiring.norms_evaluating)
        .with("penalties", state->penalties)
        .with("couplings", state->couplings);
    if (!wiring.dropped.empty()) {
      value.with("dropout_share", at::stack(wiring.dropped).amax());
    }
    if (state->weight.defined()) value.with("loss_weight", state->weight);
    for (const std::string& text : wiring.remarks) {
      value.with_remark(at::zeros({1}), [text](const std::vector<double>&) { return text; });
    }
    return value;
  };
  return functions;
}

}  // namespace

Quantity wiring(Settings&) {
  return Quantity("wiring")
      .summary("Nodes of the graph; facts about its layers, its loss and its modes as fields")
      .reference("exact, from the graph; beyond the papers")
      .make(&make_wiring);
}

}  // namespace flightdeck::quantities
