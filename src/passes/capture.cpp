// SPDX-License-Identifier: MIT
#include "passes/capture.h"

#include <algorithm>
#include <limits>
#include <set>
#include <unordered_map>
#include <utility>

#include <ATen/ATen.h>

#include "base/words.h"
#include "graph/topology.h"
#include "passes/scalar_terms.h"

namespace flightdeck {
namespace {

using compat::ag::AccumulateGrad;
using compat::ag::Node;

void check_input(const Tensor& losses,
                 const Parameters& parameters,
                 const GradientOptions& options) {
  TORCH_CHECK_VALUE(losses.defined(),
                    "gradients: losses is an undefined tensor; pass the "
                    "individual losses [N]");
  if (options.batch_size > 0) {
    TORCH_CHECK_VALUE(losses.numel() == 1,
                      "gradients: batch_size is ",
                      options.batch_size,
                      " but losses has shape ",
                      losses.sizes(),
                      "; give batch_size only with a scalar loss");
  } else {
    TORCH_CHECK_VALUE(
        losses.dim() == 1,
        "gradients: losses has ",
        losses.dim(),
        " dimensions (shape ",
        losses.sizes(),
        ") but must have 1, one loss per sample [N]; reduce what belongs to one sample "
        "by mean or sum, or give a scalar loss and options.batch_size");
    TORCH_CHECK_VALUE(losses.numel() > 0, "gradients: losses is empty; pass at least one sample");
  }
  TORCH_CHECK_VALUE(losses.grad_fn() != nullptr,
                    "gradients: losses has no graph (requires_grad is ",
                    losses.requires_grad() ? "true" : "false",
                    "); compute them from parameters that require gradients, outside no_grad");
  TORCH_CHECK_VALUE(parameters.size() > 0,
                    "gradients: no parameters given (0); pass "
                    "model->named_parameters()");
  for (const auto& [name, tensor] : parameters) {
    TORCH_CHECK_VALUE(
        tensor.defined(), "gradients: parameter '", name, "' is an undefined tensor; leave it out");
    TORCH_CHECK_VALUE(tensor.is_leaf(),
                      "gradients: parameter '",
                      name,
                      "' is not a leaf of the graph; pass the tensor it was computed from");
    TORCH_CHECK_NOT_IMPLEMENTED(!tensor.is_complex(),
                                "gradients: parameter '",
                                name,
                                "' has type ",
                                tensor.scalar_type(),
                                " but rows are real; keep a real parameter [..., 2] in its place "
                                "and call view_as_complex on it in the model");
  }
}

// The name of a layer from that of its parameter: "bn1.weight" -> "bn1".
std::string layer_of(const std::string& parameter) {
  const size_t dot = parameter.rfind('.');
  return dot == std::string::npos ? parameter : parameter.substr(0, dot);
}

using Edges = std::set<std::pair<size_t, size_t>>;  // node, edge

class Reader {
 public:
  /// `cuts`: edges over which nothing flows.
  Reader(const Tensor& losses,
         const Parameters& parameters,
         const GradientOptions& options,
         bool needs_samples,
         Edges cuts)
      : parameters_(parameters),
        options_(options),
        needs_samples_(needs_samples),
        cuts_(std::move(cuts)),
        topology_(read_topology(losses.grad_fn().get())),
        scalar_terms_(options.batch_size > 0 ? options.batch_size : losses.size(0)),
        reading_(options.batch_size, options.reduction) {
    capture_.is_scalar = options.batch_size > 0;
    capture_.N = capture_.is_scalar ? options.batch_size : losses.size(0);
    capture_.root_output = losses.output_nr();
    capture_.parameters.resize(parameters.size());
    read_nodes();
    const size_t count = topology_.order.size();
    outputs_.resize(count);
    is_free_.assign(count, false);
    is_summand_.assign(count, false);
    factor_.assign(count, 1);
    shared_by_.resize(count);
    slow_reason_.resize(count);
  }

  Capture run() {
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
      if (capture_.is_scalar && needs_samples_) check_scalar();
    }
    finish_slow();
    count_arrivals();
    finish_remarks();
    capture_.position = std::move(topology_.position);
    return std::move(capture_);
  }

  /// The shared terms, unless samples lie below: then they couple the samples and are none.
  Edges shared_terms(const Capture& capture) const {
    Edges edges;
    for (const SharedTerm& term : capture.shared_terms) {
      const auto next = static_cast<size_t>(capture.nodes[term.position].next[term.edge]);
      if (!has_samples_below(capture, next)) edges.insert({term.position, term.edge});
    }
    return edges;
  }

 private:
  void read_nodes() {
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
      captured.rule = find_rule(node->name());
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

  // One sample: wherever it sits, its gradient is the gradient, and one backward pass gives it.
  void take_whole() {
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

  // One layout for all outputs that are used, or a reason why there is none.
  Layout layout_of(size_t k) const {
    Layout layout;
    for (const Layout& output : outputs_[k]) {
      if (output.kind == Layout::Kind::kUnset || output == layout) continue;
      if (layout.kind != Layout::Kind::kUnset) return Layout::unknown();
      layout = output;
    }
    return layout;
  }

  void classify(size_t k) {
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

  // What all samples share lies below; if samples lie there as well, this op couples them.
  void share(size_t k, size_t next) {
    is_free_[next] = true;
    const CapturedNode& captured = capture_.nodes[k];
    const bool passes_on = captured.side == Side::kFree && captured.rule &&
                           (captured.rule->is_view() || captured.rule->is_pointwise());
    if (shared_by_[next].empty()) {
      shared_by_[next] = passes_on ? shared_by_[k] : captured.node->name();
    }
  }

  // A constant times a parameter, with a line for each sample, that all samples share: data, by the
  // looks of it. Nothing in the graph tells it from a computed weight of that size.
  void look_for_samples(const CapturedNode& captured) {
    const NodeView view(captured.node);
    if (!captured.rule || captured.rule->is_view() || captured.rule->is_pointwise()) return;
    const Shape shape = view.output_shape();
    bool has_constant = false;
    for (size_t e = 0; e < view.num_inputs(); ++e) has_constant |= !view.has_input(e);
    if (!has_constant || shape.size() < 2 || shape[0] != capture_.N) return;
    capture_.row_remarks.push_back(
        "all samples share the output of " + view.name() + " of shape " + to_string(shape) +
        ": if its lines are the samples, it couples them, and what takes "
        "individual gradients for independent draws loses its meaning");
  }

  void classify_edge(size_t k, size_t e) {
    CapturedNode& captured = capture_.nodes[k];
    const NodeView view(captured.node);
    Layout layout =
        captured.rule ? captured.rule->input_layout(view, e, captured.layout) : Layout::unknown();
    if (layout.kind == Layout::Kind::kCoupled) layout = decouple(captured, view, e);
    switch (layout.kind) {
      case Layout::Kind::kBatch:
        follow(k, e, layout);
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

  void note_shared_term(size_t k, size_t e) {
    const Node* node = capture_.nodes[k].node;
    capture_.shared_terms.push_back({k, e, node->next_edge(e).function->name()});
  }

  void use(size_t k, size_t e) {
    CapturedNode& captured = capture_.nodes[k];
    captured.edges[e] = EdgeKind::kUse;
    share(k, captured.next[e]);
  }

  void follow(size_t k, size_t e, const Layout& layout) {
    CapturedNode& captured = capture_.nodes[k];
    const size_t next = captured.next[e];
    captured.edges[e] = EdgeKind::kBatch;
    Layout& target = outputs_[next][captured.node->next_edge(e).input_nr];
    const bool agrees = target.kind == Layout::Kind::kUnset || target == layout;
    target = agrees ? layout : Layout::unknown();
    if (!is_summand_[k]) return;
    if (const auto factor = captured.rule->summand(NodeView(captured.node), e)) {
      is_summand_[next] = true;
      factor_[next] = factor_[k] * *factor;
    }
  }

  // The samples have been reduced away. Below a mean or sum over them they are found again; terms
  // without samples are shared by all; anything else cannot be taken apart.
  void classify_scalar_edge(size_t k, size_t e) {
    CapturedNode& captured = capture_.nodes[k];
    const NodeView view(captured.node);
    const Rule* rule = captured.rule;
    const bool is_one = product(view.input_shape(e)) == 1;
    const bool is_summand = rule && rule->summand(view, e).has_value();
    if (!carries_samples(captured, e)) {
      if (is_summand_[k] && is_summand) {
        note_shared_term(k, e);
        use(k, e);
      } else {
        mark_slow(captured, e, view.name() + " combines it with the reduced loss");
      }
      return;
    }
    if (!is_one && rule && rule->reduction(view)) {
      const double unknown = std::numeric_limits<double>::quiet_NaN();
      reading_.note(view.name(), *rule->reduction(view), is_summand_[k] ? factor_[k] : unknown);
      follow(k, e, rule->input_layout(view, e, captured.layout));
      return;
    }
    if (is_one && rule && (is_summand || is_multiple(captured, e))) {
      follow(k, e, captured.layout);
      return;
    }
    add_once(capture_.couplings, view.name());
    mark_slow(captured,
              e,
              "the loss is no mean or sum over the samples: " + view.name() + " couples them");
  }

  bool carries_samples(const CapturedNode& captured, size_t e) {
    return scalar_terms_.carries_samples(captured.node->next_edge(e));
  }

  // Times something that has no samples.
  bool is_multiple(const CapturedNode& captured, size_t e) {
    const NodeView view(captured.node);
    if (!captured.rule->is_linear_in(view, e)) return false;
    for (size_t other = 0; other < view.num_inputs(); ++other) {
      if (other != e && view.has_input(other) && carries_samples(captured, other)) return false;
    }
    return true;
  }

  void check_scalar() const {
    TORCH_CHECK_VALUE(reading_.has_samples() || !capture_.couplings.empty() || !has_any_parameter(),
                      "gradients: no samples are found behind the scalar loss (",
                      capture_.nodes[0].node->name(),
                      ") of batch_size ",
                      capture_.N,
                      "; hand over the individual losses [N]");
    reading_.check();
  }

  bool has_any_parameter() const {
    return std::any_of(capture_.parameters.begin(),
                       capture_.parameters.end(),
                       [](const CapturedParameter& parameter) { return parameter.leaf >= 0; });
  }

  // ---- what is said of it ----

  bool has_samples_below(const Capture& capture, size_t root) const {
    std::vector<size_t> todo{root};
    std::set<size_t> seen{root};
    while (!todo.empty()) {
      const size_t k = todo.back();
      todo.pop_back();
      if (layout_of(k).kind != Layout::Kind::kUnset) return true;
      for (int64_t next : capture.nodes[k].next) {
        if (next >= 0 && seen.insert(next).second) todo.push_back(next);
      }
    }
    return false;
  }

  void finish_remarks() {
    if (!capture_.left_out.empty()) {
      capture_.remarks.push_back(
          "left out, as options.shared_terms asks: terms of the losses that "
          "have one value for all samples (" +
          joined(capture_.left_out) + ")");
    }
    if (!unread_.empty()) {
      capture_.row_remarks.push_back("where the samples sit below " + joined(unread_) +
                                     " is not known, nor whether they are coupled there");
    }
    if (!capture_.couplings.empty()) {
      capture_.row_remarks.push_back(
          "samples are coupled by " + joined(capture_.couplings) +
          ": a loss depends on other samples too. Rows are the gradients of losses[n]; what takes "
          "them for independent draws (variance, norm, inner-product and orthogonality test, noise "
          "scale, signal-to-noise ratios, cabs, early stopping) loses its meaning");
    }
  }

  void mark_slow(CapturedNode& captured, size_t e, const std::string& reason) {
    if (captured.next[e] < 0) return;
    captured.edges[e] = EdgeKind::kSlow;
    std::string& target = slow_reason_[captured.next[e]];
    if (target.empty()) target = reason;
  }

  // Batch norm with batch statistics: what the caller's policy makes of it.
  Layout decouple(CapturedNode& captured, const NodeView& view, size_t edge) {
    const Layout decoupled = edge == 0 ? captured.layout : Layout::free();
    if (options_.batch_norm == BatchNormPolicy::kSplitGradient) {
      add_once(capture_.row_remarks,
               view.name() +
                   " couples the samples (kSplitGradient): a row is the part of the "
                   "gradient that flows through its sample, not that of losses[n]");
      return decoupled;
    }
    if (options_.batch_norm == BatchNormPolicy::kConstantStatistics) {
      add_once(capture_.row_remarks,
               view.name() +
                   " couples the samples (kConstantStatistics): rows are taken with the "
                   "batch's mean and variance held constant");
      captured.holds_statistics = true;
      capture_.runs_own_pass = true;
      return decoupled;
    }
    std::string layer =
        "a batch norm without parameters on an input of shape " + to_string(view.output_shape());
    for (size_t e = 1; e < captured.next.size(); ++e) {
      const int64_t next = captured.next[e];
      if (next < 0 || capture_.nodes[next].parameter < 0) continue;
      const std::string& name = parameters_[capture_.nodes[next].parameter].name;
      layer = "'" + layer_of(name) + "' with parameter '" + name + "'";
      break;
    }
    refusal_ = "gradients: training-mode batch norm " + layer + " (" + view.name() +
               ") couples the samples, so individual gradients have no one meaning; put it in eval "
               "mode, or set options.batch_norm to kConstantStatistics or kSplitGradient";
    for (auto& parameter : capture_.parameters) {
      if (parameter.leaf >= 0) parameter.refusal = refusal_;
    }
    return decoupled;
  }

  bool leads_only_to_parameters(size_t k) const {
    const CapturedNode& captured = capture_.nodes[k];
    if (captured.parameter >= 0) return true;
    if (!captured.rule || !captured.rule->is_view()) return false;
    return std::all_of(captured.next.begin(), captured.next.end(), [this](int64_t next) {
      return next < 0 || leads_only_to_parameters(next);
    });
  }

  void finish_slow() {
    for (auto& parameter : capture_.parameters) {
      if (parameter.leaf < 0) continue;
      // In the graph, but only below terms that were left out.
      if (capture_.nodes[parameter.leaf].side == Side::kNone) parameter.leaf = -1;
      if (parameter.leaf < 0) continue;
      if (capture_.nodes[parameter.leaf].side != Side::kSlow) continue;
      const std::string& reason = slow_reason_[parameter.leaf];
      parameter.is_slow = true;
      parameter.reason = reason;
      if (capture_.is_scalar && capture_.N > 1 && parameter.refusal.empty()) {
        parameter.refusal = "gradients: " + reason +
                            ", and a scalar loss cannot be taken apart sample by sample; hand over "
                            "the individual losses [N] instead of a scalar and batch_size " +
                            std::to_string(capture_.N);
      }
    }
    for (size_t k = capture_.nodes.size(); k-- > 0;) {
      CapturedNode& captured = capture_.nodes[k];
      captured.leads_to_slow =
          captured.parameter >= 0 && capture_.parameters[captured.parameter].is_slow;
      for (int64_t next : captured.next) {
        if (next >= 0 && capture_.nodes[next].leads_to_slow) captured.leads_to_slow = true;
      }
    }
  }

  void count_arrivals() {
    for (CapturedNode& captured : capture_.nodes) {
      for (size_t e = 0; e < captured.next.size(); ++e) {
        if (captured.next[e] < 0) continue;
        CapturedNode& next = capture_.nodes[captured.next[e]];
        const bool delivers =
            captured.edges[e] == EdgeKind::kUse || captured.edges[e] == EdgeKind::kFree;
        if (!delivers) continue;
        if (next.side == Side::kFree) {
          ++next.arrivals;
        } else {
          captured.edges[e] = EdgeKind::kSlow;  // its rows come from the slow pass as a whole
        }
      }
    }
  }

  const Parameters& parameters_;
  const GradientOptions& options_;
  bool needs_samples_;
  Edges cuts_;
  Topology topology_;
  ScalarTerms scalar_terms_;
  ReductionReading reading_;
  Capture capture_;
  std::vector<bool> reaches_;
  std::vector<std::vector<Layout>> outputs_;
  std::vector<bool> is_free_;
  std::vector<bool> is_summand_;        // reached from the losses over summands alone
  std::vector<double> factor_;          // of those: what they are multiplied by on the way
  std::vector<std::string> shared_by_;  // the op that uses a free node's output for all samples
  std::vector<std::string> slow_reason_;
  std::vector<std::string> unread_;  // ops that end what is known of the samples
  std::string refusal_;
};

}  // namespace

Capture capture_graph(const Tensor& losses,
                      const Parameters& parameters,
                      const GradientOptions& options,
                      bool needs_samples) {
  check_input(losses, parameters, options);
  Reader reader(losses, parameters, options, needs_samples, {});
  Capture capture = reader.run();
  if (options.shared_terms == SharedTerms::kKeep || capture.shared_terms.empty()) return capture;
  const Edges terms = reader.shared_terms(capture);
  if (terms.empty()) return capture;
  return Reader(losses, parameters, options, needs_samples, terms).run();
}

bool Capture::is_shared_term(size_t k, size_t edge) const {
  return std::any_of(shared_terms.begin(), shared_terms.end(), [&](const SharedTerm& term) {
    return term.position == k && term.edge == edge;
  });
}

std::vector<std::string> Capture::shared_term_names() const {
  std::vector<std::string> names;
  for (const SharedTerm& term : shared_terms) {
    add_once(names, term.op);
  }
  return names;
}

void check_samples(const Capture& capture,
                   const std::vector<int64_t>& samples,
                   const char* caller,
                   const char* field) {
  for (int64_t n : samples) {
    TORCH_CHECK_INDEX(n >= 0 && n < capture.N,
                      caller,
                      ": options.",
                      field,
                      " contains ",
                      n,
                      " but the batch of ",
                      capture.N,
                      " has samples 0 to ",
                      capture.N - 1,
                      "; pass indices inside the batch");
  }
}

void throw_refusals(const Capture& capture) {
  for (const auto& parameter : capture.parameters) {
    TORCH_CHECK_VALUE(parameter.refusal.empty(), parameter.refusal);
  }
}

}  // namespace flightdeck
