// SPDX-License-Identifier: MIT
// The individual losses of a scalar, from what the nodes of its loss have kept.
#include <cmath>

#include <ATen/ATen.h>

#include "graph/apply_node.h"
#include "passes/capture.h"

namespace flightdeck {
namespace {

using compat::ag::Edge;
using compat::ag::Node;

Tensor output_of(Node* node);

// Computes the output of a node that is linear without constants: its Jacobian times its inputs, if
// these can be told.
Tensor output_by_inputs(Node* node, const NodeView& view, const Rule& rule) {
  if (!rule.is_homogeneous(view) || node->num_inputs() != 1) return {};
  variable_list inputs;
  for (size_t e = 0; e < view.num_inputs(); ++e) {
    Tensor input;
    if (view.has_input(e)) {
      const Edge& edge = node->next_edge(e);
      input = edge.input_nr == 0 ? output_of(edge.function.get()) : Tensor();
      if (!input.defined()) return {};
      input = input.unsqueeze(0);
    }
    inputs.push_back(std::move(input));
  }
  const Tensor output = push_tangents(node, inputs, {true})[0];
  return output.defined() ? output.select(0, 0) : output;
}

// Returns the output of a node; undefined where it cannot be told.
Tensor output_of(Node* node) {
  const NodeView view(node);
  const Rule* rule = find_rule(node->name());
  if (!rule || rule->reduction(view)) return {};
  const Tensor kept = rule->summed_values(view);
  return kept.defined() ? kept : output_by_inputs(node, view, *rule);
}

// Returns values that add up to the one output of a node that reduces samples.
Tensor summed_values(Node* node) {
  const NodeView view(node);
  const Rule& rule = *find_rule(node->name());
  Tensor values = rule.summed_values(view);
  if (values.defined()) return values;
  const Edge& edge = node->next_edge(0);
  const auto factor = rule.summand(view, 0);
  if (view.num_inputs() != 1 || !factor || edge.input_nr != 0) return {};
  values = output_of(edge.function.get());
  return values.defined() ? values * *factor : values;
}

// Returns the share of each sample in the scalar, [N] in double.
Tensor shares(const Capture& capture) {
  Tensor total;
  for (const SampleTerm& term : capture.sample_terms) {
    Node* node = capture.nodes[term.position].node;
    const Tensor values = std::isnan(term.factor) ? Tensor() : summed_values(node);
    TORCH_CHECK_VALUE(values.defined(),
                      "individual losses: ",
                      node->name(),
                      " has reduced them and its graph has not kept them; give losses [N] in place "
                      "of the scalar");
    const Tensor share = values.to(at::kDouble).reshape({capture.N, -1}).sum(1).mul(term.factor);
    total = total.defined() ? total + share : share;
  }
  return total;
}

}  // namespace

Tensor Batch::individual_losses() const {
  const Tensor loss = losses().detach();
  if (!is_scalar() || size() == 1) return loss.reshape({size()});
  const std::shared_ptr<const Capture> capture = capture_of(*this);
  check_scalar(*capture);
  TORCH_CHECK_VALUE(capture->couplings.empty() && !capture->sample_terms.empty(),
                    "individual losses: the scalar is no mean or sum over the samples",
                    capture->couplings.empty() ? "" : ": " + capture->couplings.front(),
                    "; give losses [N] in its place");
  const compat::PassGuard guard;
  const Tensor share = shares(*capture);
  // The rest of the scalar, such as a penalty, is common to all samples.
  const double N = static_cast<double>(size());
  const Tensor common = loss.to(at::kDouble).reshape({}) - share.sum();
  const bool is_mean = options_.reduction == Reduction::kMean;
  const Tensor individual = is_mean ? share * N + common : share + common / N;
  return individual.to(loss.scalar_type());
}

}  // namespace flightdeck
