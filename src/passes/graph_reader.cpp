// SPDX-License-Identifier: MIT
#include "passes/graph_reader.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/words.h"
#include "rules/hidden_graph.h"

namespace flightdeck {

using compat::ag::AccumulateGrad;
using compat::ag::Node;

namespace {

// Derives the name of a layer from that of its parameter: "bn1.weight" -> "bn1".
std::string layer_of(const std::string& parameter) {
  const size_t dot = parameter.rfind('.');
  return dot == std::string::npos ? parameter : parameter.substr(0, dot);
}

}  // namespace

GraphReader::GraphReader(const Tensor& losses,
                         const Parameters& parameters,
                         const CaptureOptions& options,
                         const Topology& topology,
                         Edges cuts)
    : parameters_(parameters),
      cuts_(std::move(cuts)),
      topology_(topology),
      N_(options.batch_size > 0 ? options.batch_size : losses.size(0)),
      scalar_terms_(N_),
      reading_(N_, options.reduction) {
  const bool is_individual = losses.dim() == 1 && losses.size(0) == N_;
  capture_.is_scalar = !is_individual;
  capture_.N = N_;
  capture_.root_output = losses.output_nr();
  capture_.parameters.resize(parameters.size());
  read_nodes();
  const size_t count = topology_.order.size();
  outputs_.resize(count);
  is_free_.assign(count, false);
  is_summand_.assign(count, false);
  factor_.assign(count, 1);
  shared_by_.resize(count);
  scattered_by_.resize(count);
  slow_reason_.resize(count);
}

Capture GraphReader::run() {
  for (size_t k = 0; k < topology_.order.size(); ++k) {
    outputs_[k].resize(topology_.order[k]->num_inputs());
  }
  outputs_[0][capture_.root_output] = capture_.is_scalar
                                          ? Layout::of(Layout::Kind::kReduced, capture_.N)
                                          : Layout::batch(capture_.N, 0);
  is_summand_[0] = true;
  if (capture_.N == 1) {
    take_whole();
  } else {
    for (size_t k = 0; k < capture_.nodes.size(); ++k) {
      if (reaches_[k]) classify(k);
    }
    if (capture_.is_scalar) capture_.scalar_error = scalar_error();
  }
  finish_slow();
  count_handing_edges();
  finish_remarks();
  return std::move(capture_);
}

void GraphReader::read_nodes() {
  std::unordered_map<const c10::TensorImpl*, int64_t> asked;
  for (size_t p = 0; p < parameters_.size(); ++p) {
    const auto* impl = parameters_[p].tensor.unsafeGetTensorImpl();
    const bool is_new = asked.emplace(impl, static_cast<int64_t>(p)).second;
    TORCH_CHECK_VALUE(is_new,
                      "gradients: parameter '",
                      parameters_[p].name,
                      "' is the same tensor as '",
                      parameters_[asked[impl]].name,
                      "'; pass a shared parameter once");
  }
  const size_t count = topology_.order.size();
  capture_.nodes.resize(count);
  reaches_.assign(count, false);
  for (size_t k = count; k-- > 0;) {  // producers first
    CapturedNode& captured = capture_.nodes[k];
    Node* node = topology_.order[k];
    captured.node = node;
    if (const auto* leaf = dynamic_cast<const AccumulateGrad*>(node)) {
      const auto found = asked.find(leaf->variable.unsafeGetTensorImpl());
      if (found == asked.end()) continue;
      captured.parameter = found->second;
      capture_.parameters[found->second].leaf = static_cast<int64_t>(k);
      reaches_[k] = true;
      continue;
    }
    const std::string name = node->name();
    captured.rule = find_rule(name);
    if (!captured.rule && capture_.hidden_graph.empty()) capture_.hidden_graph = hidden_graph(name);
    for (size_t e = 0; e < node->next_edges().size(); ++e) {
      const auto& edge = node->next_edge(e);
      const int64_t next =
          edge.is_valid() ? static_cast<int64_t>(topology_.position.at(edge.function.get())) : -1;
      const bool leads = next >= 0 && reaches_[next] && cuts_.count({k, e}) == 0;
      captured.next.push_back(leads ? next : -1);
      captured.edges.push_back(EdgeKind::kNone);
      if (leads) reaches_[k] = true;
    }
  }
  for (const auto& [k, e] : cuts_) {
    add_once(capture_.left_out, capture_.nodes[k].node->next_edge(e).function->name());
  }
}

// Reads a batch of one sample: wherever it sits, its gradient is the gradient, and one backward
// pass gives it.
void GraphReader::take_whole() {
  std::vector<bool> is_reached(capture_.nodes.size(), false);
  is_reached[0] = true;
  for (size_t k = 0; k < capture_.nodes.size(); ++k) {
    if (!is_reached[k] || !reaches_[k]) continue;
    CapturedNode& captured = capture_.nodes[k];
    const NodeView view(captured.node);
    captured.side = Side::kSlow;
    for (size_t e = 0; e < captured.next.size(); ++e) {
      if (captured.next[e] < 0) continue;
      const size_t next = captured.next[e];
      captured.edges[e] = EdgeKind::kSlow;
      is_reached[next] = true;
      if (!is_summand_[k] || !captured.rule || !captured.rule->summand(view, e)) continue;
      if (product(view.input_shape(e)) != 1) continue;
      if (carries_samples(captured, e)) {
        is_summand_[next] = true;
      } else {
        note_shared_term(k, e);
      }
    }
  }
}

// Returns one layout for all outputs that are used, or a reason why there is none.
Layout GraphReader::layout_of(size_t k) const {
  Layout layout;
  for (const Layout& output : outputs_[k]) {
    if (output.kind == Layout::Kind::kUnset || output == layout) continue;
    if (layout.kind != Layout::Kind::kUnset) return Layout::unknown();
    layout = output;
  }
  return layout;
}

void GraphReader::classify(size_t k) {
  CapturedNode& captured = capture_.nodes[k];
  Layout layout = layout_of(k);
  const bool carries = layout.kind != Layout::Kind::kUnset;
  if (carries && is_free_[k]) {
    add_once(capture_.couplings, shared_by_[k]);
    if (slow_reason_[k].empty()) {
      slow_reason_[k] =
          "the output of " + captured.node->name() + " is used both per sample and as a whole";
    }
  }
  if (slow_reason_[k].empty() && layout.kind == Layout::Kind::kUnknown) {
    slow_reason_[k] = "the samples sit in two places of the output of " + captured.node->name();
  }
  if (slow_reason_[k].empty() && carries && captured.parameter >= 0) {
    slow_reason_[k] = "the samples index the parameter itself";
  }
  if (!slow_reason_[k].empty()) {
    captured.side = Side::kSlow;
    for (size_t e = 0; e < captured.next.size(); ++e) mark_slow(captured, e, slow_reason_[k]);
    return;
  }
  captured.side = carries ? Side::kBatch : is_free_[k] ? Side::kFree : Side::kNone;
  captured.layout = layout;
  for (size_t e = 0; e < captured.next.size(); ++e) {
    if (captured.next[e] < 0) continue;
    if (captured.side == Side::kFree) {
      captured.edges[e] = EdgeKind::kFree;
      share(k, captured.next[e]);
    } else if (captured.side == Side::kBatch) {
      if (layout.is_reduced()) {
        classify_scalar_edge(k, e);
      } else {
        classify_edge(k, e);
      }
    }
  }
  if (captured.side == Side::kFree) look_for_samples(captured);
}

// Marks what lies below as shared by all samples; if samples lie there as well, this op couples
// them.
void GraphReader::share(size_t k, size_t next) {
  is_free_[next] = true;
  const CapturedNode& captured = capture_.nodes[k];
  const bool passes_on = captured.side == Side::kFree && captured.rule &&
                         (captured.rule->is_view() || captured.rule->is_pointwise());
  if (shared_by_[next].empty()) {
    shared_by_[next] = passes_on ? shared_by_[k] : captured.node->name();
  }
}

// Looks for a constant times a parameter, with a line for each sample, that all samples share: it
// looks like data. Nothing in the graph tells it from a computed weight of that size.
void GraphReader::look_for_samples(const CapturedNode& captured) {
  const NodeView view(captured.node);
  if (!captured.rule || captured.rule->is_view() || captured.rule->is_pointwise()) return;
  const Shape shape = view.output_shape();
  bool has_constant = false;
  for (size_t e = 0; e < view.num_inputs(); ++e) has_constant |= !view.has_input(e);
  if (!has_constant || shape.size() < 2 || shape[0] != capture_.N) return;
  capture_.row_remarks.push_back("all samples share the output of " + view.name() + " of shape " +
                                 to_string(shape) +
                                 ": if its lines are the samples, it couples them, and what takes "
                                 "individual gradients for independent draws loses its meaning");
}

void GraphReader::classify_edge(size_t k, size_t e) {
  CapturedNode& captured = capture_.nodes[k];
  const NodeView view(captured.node);
  Layout layout =
      captured.rule ? captured.rule->input_layout(view, e, captured.layout) : Layout::unknown();
  if (layout.kind == Layout::Kind::kCoupled) layout = decouple(captured, view, e);
  switch (layout.kind) {
    case Layout::Kind::kBatch:
      // Lines of a table that no two samples happen to share are still lines of a table.
      if (layout.owners != captured.layout.owners && layout.is_scattered() &&
          leads_only_to_parameters(captured.next[e])) {
        use(k, e);
      } else {
        follow(k, e, layout);
      }
      break;
    case Layout::Kind::kFree:
      if (is_summand_[k] && captured.rule->summand(view, e)) {
        note_shared_term(k, e);
      }
      use(k, e);
      break;
    case Layout::Kind::kMixed:
      add_once(capture_.couplings, view.name());
      mark_slow(captured, e, view.name() + " mixes the samples");
      break;
    default:
      // One call of the node per sample gives the rows, if nothing but views lies below.
      if (captured.layout.is_batch() && leads_only_to_parameters(captured.next[e])) {
        use(k, e);
      } else {
        add_once(unread_, view.name());
        mark_slow(captured,
                  e,
                  captured.rule ? "the rule for " + view.name() + " does not cover this case"
                                : "there is no rule for " + view.name());
      }
  }
}

void GraphReader::note_shared_term(size_t k, size_t e) {
  const Node* node = capture_.nodes[k].node;
  capture_.shared_terms.push_back({k, e, node->next_edge(e).function->name()});
}

void GraphReader::use(size_t k, size_t e) {
  CapturedNode& captured = capture_.nodes[k];
  captured.edges[e] = EdgeKind::kUse;
  share(k, captured.next[e]);
}

void GraphReader::follow(size_t k, size_t e, const Layout& layout) {
  CapturedNode& captured = capture_.nodes[k];
  const size_t next = captured.next[e];
  captured.edges[e] = EdgeKind::kBatch;
  Layout& target = outputs_[next][captured.node->next_edge(e).input_nr];
  if (layout.is_scattered() && scattered_by_[next].empty()) {
    scattered_by_[next] = captured.node->name();
  }
  target = target.kind == Layout::Kind::kUnset ? layout : agreed_layout(target, layout);
  // Two samples read the same entry: that couples them, unless it comes from parameters alone.
  if (!target.is_batch() && !scattered_by_[next].empty()) add_once(unread_, scattered_by_[next]);
  if (!is_summand_[k]) return;
  if (const auto factor = captured.rule->summand(NodeView(captured.node), e)) {
    is_summand_[next] = true;
    factor_[next] = factor_[k] * *factor;
  }
}

void GraphReader::mark_slow(CapturedNode& captured, size_t e, const std::string& reason) {
  if (captured.next[e] < 0) return;
  captured.edges[e] = EdgeKind::kSlow;
  std::string& target = slow_reason_[captured.next[e]];
  if (target.empty()) target = reason;
}

// Treats the output of batch norm with batch statistics as if each sample had its own, under any
// policy: what becomes of it is decided by the caller's policy.
Layout GraphReader::decouple(CapturedNode& captured, const NodeView& view, size_t edge) {
  if (!captured.couples_samples) {
    std::string layer =
        "a batch norm without parameters on an input of shape " + to_string(view.output_shape());
    for (size_t e = 1; e < captured.next.size(); ++e) {
      const int64_t next = captured.next[e];
      if (next < 0 || capture_.nodes[next].parameter < 0) continue;
      const std::string& name = parameters_[capture_.nodes[next].parameter].name;
      layer = "'" + layer_of(name) + "' with parameter '" + name + "'";
      break;
    }
    captured.couples_samples = true;
    capture_.coupled_layers.push_back({view.name(), std::move(layer)});
  }
  return edge == 0 ? captured.layout : Layout::free();
}

bool GraphReader::leads_only_to_parameters(size_t k) const {
  const CapturedNode& captured = capture_.nodes[k];
  if (captured.parameter >= 0) return true;
  if (!captured.rule || !captured.rule->is_view()) return false;
  return std::all_of(captured.next.begin(), captured.next.end(), [this](int64_t next) {
    return next < 0 || leads_only_to_parameters(next);
  });
}

}  // namespace flightdeck
