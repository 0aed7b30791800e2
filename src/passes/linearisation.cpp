// SPDX-License-Identifier: MIT
#include "passes/linearisation.h"

#include <algorithm>

#include <ATen/ATen.h>

#include "graph/transient_parameters.h"
#include "passes/apply_captured.h"
#include "rules/stacks.h"

namespace flightdeck {
namespace {

bool only_first(const variable_list& list) {
  if (list.empty() || !list[0].defined()) return false;
  return std::none_of(
      list.begin() + 1, list.end(), [](const Tensor& tensor) { return tensor.defined(); });
}

// Returns true if nobody else can see the memory of this tensor.
bool is_ours_alone(const Tensor& tensor) {
  return tensor.use_count() == 1 && tensor.storage().use_count() == 1;
}

// Multiplies a stack that is not read again by what has no leading dimension: where it is, if
// nobody else can see it. Stacks are many times as large as what the graph holds.
Tensor times_slope(const Tensor& stack, const Tensor& slope) {
  const bool keeps_type = stack.scalar_type() == slope.scalar_type() && stack.is_contiguous();
  if (keeps_type && is_ours_alone(stack)) return stack.mul_(slope);
  return stack.mul(slope);
}

bool any(const std::vector<bool>& flags) {
  return std::find(flags.begin(), flags.end(), true) != flags.end();
}

}  // namespace

std::vector<variable_list> split_columns(const variable_list& stacks) {
  std::vector<variable_list> columns(stack_size(stacks), variable_list(stacks.size()));
  for (size_t output = 0; output < stacks.size(); ++output) {
    if (!stacks[output].defined()) continue;
    for (size_t k = 0; k < columns.size(); ++k) {
      columns[k][output] = stacks[output].select(0, static_cast<int64_t>(k));
    }
  }
  return columns;
}

Linearisation::Linearisation(const Capture& capture, BatchNormPolicy batch_norm)
    : capture_(capture), batch_norm_(batch_norm) {
  is_used_.resize(capture.nodes.size());
  for (size_t k = 0; k < capture.nodes.size(); ++k) {
    is_used_[k].assign(std::max<size_t>(1, capture.nodes[k].node->num_inputs()), false);
  }
  is_used_[0][capture.root_output] = true;
  for (const CapturedNode& captured : capture.nodes) {
    for (size_t e = 0; e < captured.next.size(); ++e) {
      if (captured.next[e] < 0) continue;
      is_used_[captured.next[e]][captured.node->next_edge(e).input_nr] = true;
    }
  }
}

const Rule* Linearisation::rule_at(size_t position) const {
  const CapturedNode& captured = capture_.nodes[position];
  const bool fits = captured.rule && captured.rule->fits(NodeView(captured.node));
  return fits ? captured.rule : nullptr;
}

bool Linearisation::has_slope(size_t position, size_t edge) const {
  const CapturedNode& captured = capture_.nodes[position];
  if (!captured.rule || !captured.rule->is_pointwise()) return false;
  const NodeView view(captured.node);
  if (view.has_complex()) return false;  // a complex entry has four derivatives
  return view.num_outputs() == 1 && view.input_shape(edge) == view.output_shape();
}

size_t Linearisation::elementwise_edge(size_t position) const {
  const NodeView view(capture_.nodes[position].node);
  for (size_t e = 0; e < view.num_inputs(); ++e) {
    if (view.has_input(e)) return e;
  }
  return 0;
}

bool Linearisation::is_elementwise(size_t position) const {
  const NodeView view(capture_.nodes[position].node);
  size_t inputs = 0;
  for (size_t e = 0; e < view.num_inputs(); ++e) inputs += view.has_input(e) ? 1 : 0;
  return inputs == 1 && has_slope(position, elementwise_edge(position));
}

const Tensor& Linearisation::slope(size_t position, size_t edge) {
  Tensor& slope = slopes_[{position, edge}];
  if (slope.defined()) return slope;
  const CapturedNode& captured = capture_.nodes[position];
  compat::ag::Node* node = captured.node;
  std::vector<bool> wanted(node->num_outputs(), false);
  wanted[edge] = true;
  const Tensor ones = at::ones(compat::shape_of(*node, 0), node->input_metadata(0).options());
  slope = apply_captured(captured, {ones}, wanted)[edge];
  if (!slope.defined()) slope = at::zeros_like(ones);
  return slope;
}

bool Linearisation::is_linear(size_t position) const {
  const CapturedNode& captured = capture_.nodes[position];
  return hands_on(captured) || (captured.rule && captured.rule->is_linear(NodeView(captured.node)));
}

Tensor Linearisation::elementwise_bend(size_t position, const variable_list& gradients) const {
  if (is_linear(position)) return {};
  compat::ag::Node* node = capture_.nodes[position].node;
  const size_t edge = elementwise_edge(position);
  variable_list tangents(node->num_outputs());
  std::vector<bool> wanted(node->num_outputs(), false);
  wanted[edge] = true;
  const auto& next = node->next_edge(edge);
  tangents[edge] = at::ones(with_lead(1, compat::shape_of(*next.function, next.input_nr)),
                            next.function->input_metadata(next.input_nr).options());
  const Tensor bent = bend_tangents(node, gradients, tangents, wanted)[edge];
  return bent.defined() ? bent.squeeze(0) : bent;
}

Tensor Linearisation::columns_by_rule(size_t position,
                                      size_t edge,
                                      const Tensor& stack,
                                      bool is_read_again) {
  const CapturedNode& captured = capture_.nodes[position];
  const Rule* rule = rule_at(position);
  if (!rule) return {};
  const NodeView view(captured.node);
  if (capture_.holds_statistics(position, batch_norm_) && edge == 0) {
    std::vector<Tensor> columns;
    for (const Tensor& gradient : stack.unbind(0)) {
      columns.push_back(rule->vjp(view, 0, gradient));
    }
    return at::stack(columns);
  }
  const Tensor result = rule->columns(view, edge, stack);
  if (result.defined()) return view.as_input(edge, result);
  if (!has_slope(position, edge)) return result;
  const Tensor& own = slope(position, edge);
  return is_read_again ? stack.mul(own) : times_slope(stack, own);
}

variable_list Linearisation::columns(size_t position,
                                     const variable_list& stacks,
                                     std::vector<bool> wanted,
                                     bool is_read_again) {
  const CapturedNode& captured = capture_.nodes[position];
  if (hands_on(captured)) return apply_captured(captured, stacks, wanted);
  compat::ag::Node* node = captured.node;
  variable_list results(wanted.size());
  for (size_t e = 0; e < wanted.size() && only_first(stacks); ++e) {
    if (!wanted[e]) continue;
    const bool is_last = std::count(wanted.begin(), wanted.end(), true) == 1;
    results[e] = columns_by_rule(position, e, stacks[0], is_read_again || !is_last);
    if (results[e].defined()) wanted[e] = false;
  }
  if (!any(wanted)) return results;
  if (stack_size(stacks) > 1) one_by_one_.insert(node->name());
  std::vector<std::vector<Tensor>> columns(wanted.size());
  for (variable_list& column : split_columns(stacks)) {
    for (Tensor& gradient : column) {
      if (gradient.defined()) gradient = gradient.contiguous();
    }
    const variable_list one = apply_captured(captured, std::move(column), wanted);
    for (size_t e = 0; e < wanted.size(); ++e) {
      if (wanted[e] && one[e].defined()) columns[e].push_back(one[e]);
    }
  }
  for (size_t e = 0; e < wanted.size(); ++e) {
    if (!columns[e].empty()) results[e] = at::stack(columns[e]);
  }
  return results;
}

variable_list Linearisation::tangents(size_t position, const variable_list& stacks) {
  const CapturedNode& captured = capture_.nodes[position];
  const auto& used = is_used_[position];
  if (hands_on(captured)) return apply_captured(captured, stacks, used);
  variable_list results(used.size());
  const bool one_output = std::count(used.begin(), used.end(), true) == 1 && used[0];
  const Rule* rule = rule_at(position);
  if (one_output && rule) {
    results[0] = rule->tangent(NodeView(captured.node), stacks);
    bool all_sloped = !results[0].defined();
    for (size_t e = 0; e < stacks.size() && all_sloped; ++e) {
      all_sloped = !stacks[e].defined() || has_slope(position, e);
    }
    for (size_t e = 0; e < stacks.size() && all_sloped; ++e) {
      if (!stacks[e].defined()) continue;
      const Tensor part = stacks[e].mul(slope(position, e));
      results[0] = results[0].defined() ? results[0].add(part) : part;
    }
    // The tangent of a real input makes a real one of a complex output.
    const bool is_short = results[0].defined() && !results[0].is_complex() &&
                          is_complex(NodeView(captured.node).output_options());
    if (is_short) results[0] = at::complex(results[0], at::zeros_like(results[0]));
    if (results[0].defined()) return results;
  }
  if (stack_size(stacks) > 1) one_by_one_.insert(captured.node->name());
  return push_tangents(captured.node, stacks, used);
}

variable_list Linearisation::bends(size_t position,
                                   const variable_list& gradients,
                                   const variable_list& tangents,
                                   const std::vector<bool>& wanted) {
  const CapturedNode& captured = capture_.nodes[position];
  variable_list bent(wanted.size());
  if (is_linear(position)) return bent;
  const Rule* rule = rule_at(position);
  if (rule && only_first(gradients) &&
      rule->bend(NodeView(captured.node), gradients[0], tangents, wanted, bent)) {
    return bent;
  }
  if (stack_size(tangents) > 1) one_by_one_.insert(captured.node->name());
  return bend_tangents(captured.node, gradients, tangents, wanted);
}

void walk_columns(Linearisation& linearisation,
                  const std::vector<Seed>& seeds,
                  const FollowsEdge& follows,
                  const std::function<void(size_t position, const variable_list& stacks)>& visit) {
  check_transient();
  const Capture& capture = linearisation.capture();
  std::vector<variable_list> waiting(capture.nodes.size());
  const auto receive = [&](size_t position, size_t output, const Tensor& stack) {
    auto& target = waiting[position];
    const size_t outputs = std::max<size_t>(1, capture.nodes[position].node->num_inputs());
    if (target.empty()) target.resize(outputs);
    Tensor& slot = target[output];
    slot = slot.defined() ? slot + stack : stack;
  };
  for (const Seed& seed : seeds) receive(seed.position, seed.output, seed.stack);
  for (size_t k = 0; k < capture.nodes.size(); ++k) {
    if (waiting[k].empty()) continue;
    const CapturedNode& captured = capture.nodes[k];
    const variable_list stacks = std::move(waiting[k]);
    waiting[k] = {};
    visit(k, stacks);
    std::vector<bool> wanted(captured.next.size());
    for (size_t e = 0; e < wanted.size(); ++e) {
      wanted[e] = captured.next[e] >= 0 && follows(captured, e);
    }
    if (!any(wanted)) continue;
    const variable_list results = linearisation.columns(k, stacks, wanted, /*is_read_again=*/false);
    for (size_t e = 0; e < wanted.size(); ++e) {
      const size_t output = captured.node->next_edge(e).input_nr;
      if (wanted[e] && results[e].defined()) receive(captured.next[e], output, results[e]);
    }
  }
}

}  // namespace flightdeck
