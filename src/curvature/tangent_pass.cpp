// SPDX-License-Identifier: MIT
#include "curvature/tangent_pass.h"

#include <algorithm>

#include <ATen/ATen.h>

#include "graph/transient_parameters.h"
#include "rules/stacks.h"

namespace flightdeck {
namespace {

bool any_defined(const variable_list& list) {
  return std::any_of(list.begin(), list.end(), [](const Tensor& t) { return t.defined(); });
}

void add_to(Tensor& total, const Tensor& part) {
  if (part.defined()) total = total.defined() ? total + part : part;
}

}  // namespace

Bending bending_of(CurvatureKind kind) {
  switch (kind) {
    case CurvatureKind::kHessian:
      return Bending::kExact;
    case CurvatureKind::kPchClip:
      return Bending::kClip;
    case CurvatureKind::kPchAbs:
      return Bending::kAbs;
    default:
      return Bending::kNone;
  }
}

TangentPass::TangentPass(CurvatureContext& context, Tensor weights)
    : context_(context), weights_(std::move(weights)), tangents_(context.capture().nodes.size()) {}

const std::vector<variable_list>& TangentPass::node_gradients() {
  if (!node_gradients_.empty()) return node_gradients_;
  const Capture& capture = context_.capture();
  node_gradients_.resize(capture.nodes.size());
  gradients_.resize(context_.parameters().size());
  walk_columns(
      context_.linearisation(),
      {{0, capture.root_output, weights_.view(context_.losses().sizes()).unsqueeze(0), {}}},
      [](const CapturedNode&, size_t) { return true; },
      [&](size_t k, const variable_list& stacks) {
        for (const Tensor& stack : stacks) {
          node_gradients_[k].push_back(stack.defined() ? stack.squeeze(0) : stack);
        }
        const int64_t parameter = capture.nodes[k].parameter;
        if (parameter >= 0) gradients_[parameter] = node_gradients_[k][0];
      });
  return node_gradients_;
}

const std::vector<Tensor>& TangentPass::gradients() {
  node_gradients();
  return gradients_;
}

variable_list TangentPass::input_tangents(size_t position) const {
  const CapturedNode& captured = context_.capture().nodes[position];
  variable_list inputs(captured.next.size());
  for (size_t e = 0; e < inputs.size(); ++e) {
    if (captured.next[e] < 0) continue;
    const variable_list& from = tangents_[captured.next[e]];
    const size_t output = captured.node->next_edge(e).input_nr;
    if (output < from.size()) inputs[e] = from[output];
  }
  return inputs;
}

void TangentPass::forward(const std::vector<Tensor>& vectors, bool to_losses, bool keeps) {
  check_transient();
  const Capture& capture = context_.capture();
  clear();
  const std::vector<bool> is_visited =
      to_losses ? std::vector<bool>(capture.nodes.size(), true) : context_.below_heads();
  // A tangent is dropped once all its readers have read it.
  std::vector<int64_t> readers(capture.nodes.size(), 0);
  for (size_t k = 0; k < capture.nodes.size(); ++k) {
    for (int64_t next : capture.nodes[k].next) {
      if (next >= 0 && is_visited[k]) ++readers[next];
    }
  }
  if (to_losses) ++readers[0];
  if (!to_losses) {
    for (const LossHead& head : context_.loss().heads) ++readers[head.position];
  }
  for (size_t k = capture.nodes.size(); k-- > 0;) {
    if (!is_visited[k]) continue;
    const CapturedNode& captured = capture.nodes[k];
    if (captured.parameter >= 0) {
      if (vectors[captured.parameter].defined()) tangents_[k] = {vectors[captured.parameter]};
      continue;
    }
    const variable_list inputs = input_tangents(k);
    if (any_defined(inputs)) tangents_[k] = context_.linearisation().tangents(k, inputs);
    for (int64_t next : captured.next) {
      if (next >= 0 && --readers[next] == 0 && !keeps) tangents_[next] = {};
    }
  }
}

std::vector<Tensor> TangentPass::outputs_tangents(const std::vector<Tensor>& vectors, bool keeps) {
  forward(vectors, /*to_losses=*/false, keeps);
  std::vector<Tensor> tangents;
  for (const LossHead& head : context_.loss().heads) {
    const variable_list& at_node = tangents_[head.position];
    tangents.push_back(head.output < at_node.size() ? at_node[head.output] : Tensor());
  }
  return tangents;
}

Tensor TangentPass::losses_tangents(const std::vector<Tensor>& vectors, bool keeps) {
  forward(vectors, /*to_losses=*/true, keeps);
  const variable_list& at_root = tangents_[0];
  return at_root.empty() ? Tensor() : at_root[context_.capture().root_output];
}

std::vector<bool> TangentPass::leads_to(const std::vector<bool>& wanted) const {
  const Capture& capture = context_.capture();
  std::vector<bool> leads(capture.nodes.size(), false);
  for (size_t k = capture.nodes.size(); k-- > 0;) {
    const CapturedNode& captured = capture.nodes[k];
    leads[k] = captured.parameter >= 0 && wanted[captured.parameter];
    for (int64_t next : captured.next) {
      if (next >= 0 && leads[next]) leads[k] = true;
    }
  }
  return leads;
}

void TangentPass::check_positive_part(size_t position, const variable_list& tangents) const {
  const CapturedNode& captured = context_.capture().nodes[position];
  const NodeView view(captured.node);
  // Allowed are samples that move in one input, or parameters of one layer, and nothing else.
  size_t samples = 0, parameters = 0;
  bool is_linear = captured.rule != nullptr;
  for (size_t e = 0; e < tangents.size(); ++e) {
    if (!tangents[e].defined()) continue;
    ++(captured.edges[e] == EdgeKind::kBatch ? samples : parameters);
    is_linear = is_linear && captured.rule->is_linear_in(view, e);
  }
  // Weight and bias enter in different terms.
  const bool is_layer = captured.rule && captured.rule->has_bias(view);
  const bool is_apart = samples + parameters == 1 || (samples == 0 && is_layer);
  TORCH_CHECK_NOT_IMPLEMENTED(
      is_linear && is_apart,
      "curvature: the positive-curvature Hessian is defined for elementwise activations, but ",
      view.name(),
      " bends more than one entry at a time; use the GGN or the Hessian for this model");
}

variable_list TangentPass::bend_elementwise(size_t position,
                                            const variable_list& tangents,
                                            Bending bending) {
  Linearisation& linearisation = context_.linearisation();
  const size_t edge = linearisation.elementwise_edge(position);
  auto found = curved_.find(position);
  if (found == curved_.end()) {
    const Tensor curved = linearisation.elementwise_bend(position, node_gradients()[position]);
    found = curved_.emplace(position, curved).first;
  }
  variable_list bent(tangents.size());
  Tensor curved = found->second;
  if (!curved.defined()) return bent;
  if (bending == Bending::kClip) curved = curved.clamp_min(0);
  if (bending == Bending::kAbs) curved = curved.abs();
  bent[edge] = tangents[edge] * curved;
  return bent;
}

variable_list TangentPass::bends(size_t position,
                                 const std::vector<bool>& wanted,
                                 Bending bending) {
  if (bending == Bending::kNone || context_.linearisation().is_linear(position)) return {};
  const variable_list tangents = input_tangents(position);
  if (!any_defined(tangents)) return {};
  if (context_.linearisation().is_elementwise(position)) {
    return bend_elementwise(position, tangents, bending);
  }
  if (bending != Bending::kExact) {
    check_positive_part(position, tangents);
    return {};
  }
  const variable_list& gradients = node_gradients()[position];
  if (!any_defined(gradients)) return {};
  return context_.linearisation().bends(position, gradients, tangents, wanted);
}

std::vector<Tensor> TangentPass::back(const std::vector<Seed>& seeds,
                                      const std::vector<bool>& wanted,
                                      Bending bending) {
  const Capture& capture = context_.capture();
  const std::vector<bool> leads = leads_to(wanted);
  // The Hessian's loss bends too; the positive part starts below it.
  const std::vector<bool> bends_here =
      bending == Bending::kExact  ? std::vector<bool>(capture.nodes.size(), true)
      : bending == Bending::kNone ? std::vector<bool>(capture.nodes.size(), false)
                                  : context_.below_heads();
  std::vector<variable_list> waiting(capture.nodes.size());
  const auto receive = [&](size_t position, size_t output, const Tensor& stack) {
    auto& target = waiting[position];
    if (target.empty()) {
      target.resize(std::max<size_t>(1, capture.nodes[position].node->num_inputs()));
    }
    add_to(target[output], stack);
  };
  for (const Seed& seed : seeds) receive(seed.position, seed.output, seed.stack);
  std::vector<Tensor> results(wanted.size());
  for (size_t k = 0; k < capture.nodes.size(); ++k) {
    const CapturedNode& captured = capture.nodes[k];
    const variable_list stacks = std::move(waiting[k]);
    waiting[k] = {};
    if (captured.parameter >= 0) {
      if (!stacks.empty() && wanted[captured.parameter]) results[captured.parameter] = stacks[0];
      continue;
    }
    std::vector<bool> followed(captured.next.size());
    bool follows = false;
    for (size_t e = 0; e < followed.size(); ++e) {
      followed[e] = captured.next[e] >= 0 && leads[captured.next[e]];
      follows = follows || followed[e];
    }
    if (!follows) continue;
    variable_list down, bent;
    if (any_defined(stacks)) down = context_.linearisation().columns(k, stacks, followed);
    if (bends_here[k]) bent = bends(k, followed, bending);
    for (size_t e = 0; e < followed.size(); ++e) {
      if (!followed[e]) continue;
      const size_t output = captured.node->next_edge(e).input_nr;
      if (e < down.size() && down[e].defined()) receive(captured.next[e], output, down[e]);
      if (e < bent.size() && bent[e].defined()) receive(captured.next[e], output, bent[e]);
    }
  }
  return results;
}

}  // namespace flightdeck
