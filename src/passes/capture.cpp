// SPDX-License-Identifier: MIT
#include "passes/capture.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>

#include <ATen/ATen.h>

#include "graph/topology.h"
#include "passes/penalty.h"

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

class Reader {
 public:
  Reader(const Tensor& losses, const Parameters& parameters, const GradientOptions& options)
      : parameters_(parameters),
        options_(options),
        topology_(read_topology(losses.grad_fn().get())) {
    capture_.is_scalar = options.batch_size > 0;
    capture_.N = capture_.is_scalar ? options.batch_size : losses.size(0);
    capture_.root_output = losses.output_nr();
    capture_.parameters.resize(parameters.size());
    read_nodes();
    const size_t count = topology_.order.size();
    outputs_.resize(count);
    is_free_.assign(count, false);
    is_tail_.assign(count, false);
    slow_reason_.resize(count);
  }

  Capture run() {
    for (size_t k = 0; k < topology_.order.size(); ++k) {
      outputs_[k].resize(topology_.order[k]->num_inputs());
    }
    outputs_[0][capture_.root_output] = capture_.is_scalar
                                            ? Layout::of(Layout::Kind::kReduced, capture_.N)
                                            : Layout::batch(capture_.N, 0);
    is_tail_[0] = true;
    if (capture_.N == 1) {
      take_whole();
    } else {
      for (size_t k = 0; k < capture_.nodes.size(); ++k) {
        if (reaches_[k]) classify(k);
      }
    }
    finish_slow();
    count_arrivals();
    return std::move(capture_);
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
      for (const auto& edge : node->next_edges()) {
        const int64_t next =
            edge.is_valid() ? static_cast<int64_t>(topology_.position.at(edge.function.get())) : -1;
        const bool leads = next >= 0 && reaches_[next];
        captured.next.push_back(leads ? next : -1);
        captured.edges.push_back(EdgeKind::kNone);
        if (leads) reaches_[k] = true;
      }
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
        if (captured.next[e] < 0 || leave_out_penalty(k, e)) continue;
        captured.edges[e] = EdgeKind::kSlow;
        is_reached[captured.next[e]] = true;
        if (is_tail_[k] && is_additive(view)) is_tail_[captured.next[e]] = true;
      }
    }
  }

  // One layout for all outputs that are used, or a reason why there is none.
  Layout layout_of(size_t k) {
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
    if (slow_reason_[k].empty() && carries && is_free_[k]) {
      slow_reason_[k] =
          "the output of " + captured.node->name() + " is used both per sample and as a whole";
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
        is_free_[captured.next[e]] = true;
      } else if (captured.side == Side::kBatch) {
        classify_edge(k, e);
      }
    }
  }

  void classify_edge(size_t k, size_t e) {
    CapturedNode& captured = capture_.nodes[k];
    const NodeView view(captured.node);
    const size_t next = captured.next[e];
    if (leave_out_penalty(k, e)) return;
    Layout layout =
        captured.rule ? captured.rule->input_layout(view, e, captured.layout) : Layout::unknown();
    if (layout.kind == Layout::Kind::kCoupled) layout = decouple(captured, view, e);
    switch (layout.kind) {
      case Layout::Kind::kBatch:
      case Layout::Kind::kReduced: {
        captured.edges[e] = EdgeKind::kBatch;
        Layout& target = outputs_[next][captured.node->next_edge(e).input_nr];
        const bool agrees = target.kind == Layout::Kind::kUnset || target == layout;
        target = agrees ? layout : Layout::unknown();
        if (is_tail_[k] && is_additive(view)) is_tail_[next] = true;
        break;
      }
      case Layout::Kind::kFree:
        captured.edges[e] = EdgeKind::kUse;
        is_free_[next] = true;
        break;
      default:
        // One call of the node per sample gives the rows, if nothing but views lies below.
        if (captured.layout.is_batch() && leads_only_to_parameters(next)) {
          captured.edges[e] = EdgeKind::kUse;
          is_free_[next] = true;
        } else {
          mark_slow(captured,
                    e,
                    captured.rule ? "the rule for " + view.name() + " does not cover this case"
                                  : "there is no rule for " + view.name());
        }
    }
  }

  bool leave_out_penalty(size_t k, size_t e) {
    CapturedNode& captured = capture_.nodes[k];
    if (!is_tail_[k] || !is_penalty(NodeView(captured.node), e)) return false;
    const std::string name = capture_.nodes[captured.next[e]].node->name();
    captured.next[e] = -1;
    capture_.remarks.push_back("a term of the losses that depends on parameters alone (" + name +
                               ") is not part of the individual gradients");
    return true;
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
    if (options_.batch_norm == BatchNormPolicy::kSplitGradient) return decoupled;
    if (options_.batch_norm == BatchNormPolicy::kConstantStatistics) {
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

  // A scalar summand of the losses that is computed from parameters alone, such as an L2 penalty.
  bool is_penalty(const NodeView& view, size_t e) const {
    const bool is_sum = view.name() == "AddBackward0" || view.name() == "SubBackward0";
    if (!is_sum || product(view.input_shape(e)) != 1) return false;
    Node* next = view.node()->next_edge(e).function.get();
    return !leads_only_to_parameters(topology_.position.at(next)) && is_parameter_expression(next);
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
  Topology topology_;
  Capture capture_;
  std::vector<bool> reaches_;
  std::vector<std::vector<Layout>> outputs_;
  std::vector<bool> is_free_;
  std::vector<bool> is_tail_;
  std::vector<std::string> slow_reason_;
  std::string refusal_;
};

}  // namespace

Capture capture_graph(const Tensor& losses,
                      const Parameters& parameters,
                      const GradientOptions& options) {
  check_input(losses, parameters, options);
  return Reader(losses, parameters, options).run();
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
