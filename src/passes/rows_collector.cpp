// SPDX-License-Identifier: MIT
#include "passes/rows_collector.h"

#include <algorithm>
#include <unordered_set>

#include <ATen/ATen.h>

#include "passes/apply_captured.h"
#include "rows/dense.h"
#include "rows/shared.h"
#include "rules/stacks.h"

namespace flightdeck {
namespace {

// Returns the type of the gradient that reaches an output of the node.
at::ScalarType type_of(const CapturedNode& captured, size_t output) {
  return c10::typeMetaToScalarType(captured.node->input_metadata(output).dtype());
}

bool is_real(const Rows& rows) {
  return !c10::isComplexType(rows.terms()[0].form->options().dtype().toScalarType());
}

// Returns rows of one entry as multiples of one: what lies between them and the parameters is then
// applied once, not once per sample.
Rows as_multiples(const Rows& rows) {
  const Tensor c = rows.dense(0, rows.N()).reshape({rows.N(), 1});
  return Rows(std::make_shared<SharedForm>(c, at::ones(with_lead(1, rows.shape()), c.options())));
}

}  // namespace

RowsCollector::RowsCollector(const Capture& capture,
                             std::vector<int64_t> samples,
                             Coverage* coverage,
                             Complete complete)
    : capture_(capture),
      samples_(std::move(samples)),
      coverage_(coverage),
      complete_(std::move(complete)),
      handed_(capture.nodes.size()),
      missing_(capture.nodes.size()) {
  for (size_t k = 0; k < missing_.size(); ++k) missing_[k] = capture.nodes[k].handing_edges;
}

bool RowsCollector::has_uses(size_t position) const {
  const auto& edges = capture_.nodes[position].edges;
  return std::find(edges.begin(), edges.end(), EdgeKind::kUse) != edges.end();
}

void RowsCollector::visit(size_t position, const variable_list& gradients) {
  if (!has_uses(position)) return;
  const CapturedNode& captured = capture_.nodes[position];
  for (size_t e = 0; e < captured.edges.size(); ++e) {
    if (captured.edges[e] != EdgeKind::kUse) continue;
    Rows rows = rows_at(position, e, gradients);
    receive(captured.next[e], captured.node->next_edge(e).input_nr, std::move(rows));
  }
}

Rows RowsCollector::rows_at(size_t position, size_t edge, const variable_list& gradients) {
  const CapturedNode& captured = capture_.nodes[position];
  const auto found =
      std::find_if(gradients.begin(), gradients.end(), [](const Tensor& g) { return g.defined(); });
  if (found == gradients.end()) return {};
  const NodeView view(captured.node);
  Rows rows;
  if (captured.layout.is_reduced()) {
    rows = shared_rows(position, edge, gradients);
  } else if (captured.rule && captured.rule->fits(view) && gradients[0].defined()) {
    rows = captured.rule->rows(view, edge, gradients[0], captured.layout);
  }
  const bool is_slow = rows.empty();
  if (is_slow) {
    rows = rows_one_by_one(position, edge, gradients);
  } else if (!samples_.empty()) {
    if (!index_.defined()) index_ = at::tensor(samples_, at::kLong).to(found->device());
    rows = rows.select(index_);
  }
  const bool is_computed = capture_.nodes[captured.next[edge]].parameter < 0;
  if (is_computed && product(view.input_shape(edge)) == 1 && is_real(rows)) {
    rows = as_multiples(rows);
  }
  rows.came_from(found->scalar_type());
  if (!coverage_) return rows;
  // This is one parameter, except for computed weights.
  for (size_t p : parameters_below(captured.next[edge])) {
    if (capture_.parameters[p].is_slow) continue;
    auto& covered = coverage_->parameters[p];
    covered.uses.push_back({view.name(), rows.terms().front().form->name(), ""});
    if (is_slow) {
      covered.level = CoverageLevel::kExactSlow;
      covered.reason = view.name() + " applied once per sample: it has no rule for its rows";
    }
  }
  return rows;
}

Rows RowsCollector::shared_rows(size_t position,
                                size_t edge,
                                const variable_list& gradients) const {
  const CapturedNode& captured = capture_.nodes[position];
  std::vector<bool> wanted(captured.edges.size(), false);
  wanted[edge] = true;
  const Tensor gradient = apply_captured(captured, gradients, wanted)[edge];
  if (!gradient.defined()) return {};
  const Tensor shares = at::full({capture_.N, 1}, 1.0 / double(capture_.N), gradient.options());
  return Rows(std::make_shared<SharedForm>(shares, gradient.unsqueeze(0)));
}

Rows RowsCollector::rows_one_by_one(size_t position,
                                    size_t edge,
                                    const variable_list& gradients) const {
  const CapturedNode& captured = capture_.nodes[position];
  std::vector<bool> wanted(captured.edges.size(), false);
  wanted[edge] = true;
  std::vector<Tensor> rows;
  const int64_t count = samples_.empty() ? capture_.N : static_cast<int64_t>(samples_.size());
  for (int64_t k = 0; k < count; ++k) {
    const int64_t n = samples_.empty() ? k : samples_[k];
    variable_list single = gradients;
    for (Tensor& gradient : single) {
      if (gradient.defined()) gradient = only_sample(gradient, captured.layout, n);
    }
    rows.push_back(apply_captured(captured, std::move(single), wanted)[edge]);
  }
  const auto& next = captured.node->next_edge(edge);
  const auto options = next.function->input_metadata(next.input_nr).options();
  for (Tensor& row : rows) {
    if (!row.defined()) row = at::zeros(NodeView(captured.node).input_shape(edge), options);
  }
  return Rows(std::make_shared<DenseForm>(at::stack(rows), "dense"));
}

void RowsCollector::receive(size_t position, size_t output, Rows rows) {
  if (!rows.empty()) handed_[position].push_back({output, std::move(rows)});
  if (--missing_[position] == 0) hand_on(position);
}

void RowsCollector::finish() {
  // Consumers come first, so what they hand on is still to be visited.
  for (size_t k = 0; k < missing_.size(); ++k) {
    if (missing_[k] > 0 && !handed_[k].empty()) hand_on(k);
  }
}

void RowsCollector::hand_on(size_t position) {
  const CapturedNode& captured = capture_.nodes[position];
  std::vector<HandedRows> handed = std::move(handed_[position]);
  handed_[position].clear();
  if (captured.parameter >= 0) {
    Rows all;
    for (HandedRows& one : handed) all.add(std::move(one.rows));
    all.merge();
    complete_(captured.parameter, std::move(all));
    return;
  }
  for (size_t e = 0; e < captured.edges.size(); ++e) {
    if (captured.edges[e] != EdgeKind::kFree) continue;
    Rows carried = carry(position, e, handed);
    receive(captured.next[e], captured.node->next_edge(e).input_nr, std::move(carried));
  }
}

Rows RowsCollector::carry(size_t position, size_t edge, const std::vector<HandedRows>& handed) {
  const CapturedNode& captured = capture_.nodes[position];
  const NodeView view(captured.node);
  Rows carried;
  for (const HandedRows& one : handed) {
    Rows rows = one.rows;
    const bool fits = captured.rule && captured.rule->fits(view);
    if (fits && captured.rule->carry(view, edge, one.output, rows)) {
      carried.add(std::move(rows));
      continue;
    }
    rows = carry_shared(position, edge, one.output, one.rows);
    if (rows.empty()) rows = carry_stack(position, edge, one.output, one.rows);
    if (rows.empty()) {
      rows = carry_one_by_one(position, edge, one.output, one.rows);
      for (size_t p : coverage_ ? parameters_below(captured.next[edge]) : std::vector<size_t>()) {
        auto& covered = coverage_->parameters[p];
        covered.level = CoverageLevel::kExactSlow;
        covered.reason = view.name() + " between parameter and use, applied once per sample";
      }
    }
    rows.came_from(type_of(captured, one.output));
    carried.add(std::move(rows));
  }
  carried.merge();
  return carried;
}

Rows RowsCollector::carry_shared(size_t position,
                                 size_t edge,
                                 size_t output,
                                 const Rows& rows) const {
  const Rows::Term* term = rows.terms().size() == 1 ? find_shared(rows.terms()) : nullptr;
  if (!term) return {};
  const CapturedNode& captured = capture_.nodes[position];
  const NodeView view(captured.node);
  std::vector<bool> wanted(captured.edges.size(), false);
  wanted[edge] = true;
  const auto dtype = c10::typeMetaToScalarType(captured.node->input_metadata(output).dtype());
  const auto& form = static_cast<const SharedForm&>(*term->form);
  std::vector<Tensor> carried;
  for (const Tensor& v : term->placement.to_parameter(form.vectors(), /*lead=*/1).unbind(0)) {
    variable_list gradients(view.num_outputs());
    gradients[output] = v.to(dtype);
    Tensor row = apply_captured(captured, std::move(gradients), wanted)[edge];
    if (!row.defined()) row = at::zeros(view.input_shape(edge), form.options());
    if (row.is_complex()) return {};
    carried.push_back(row);
  }
  return Rows(std::make_shared<SharedForm>(form.multiples(), at::stack(carried)));
}

Rows RowsCollector::carry_stack(size_t position,
                                size_t edge,
                                size_t output,
                                const Rows& rows) const {
  const CapturedNode& captured = capture_.nodes[position];
  const NodeView view(captured.node);
  if (!captured.rule || view.num_outputs() != 1 || view.has_complex()) return {};
  const Tensor stack = rows.dense(0, rows.N()).to(type_of(captured, output));
  Tensor carried = captured.rule->columns(view, edge, stack);
  const bool has_slope =
      captured.rule->is_pointwise() && view.input_shape(edge) == view.output_shape();
  if (!carried.defined() && has_slope) {
    std::vector<bool> wanted(captured.edges.size(), false);
    wanted[edge] = true;
    const Tensor ones = at::ones(view.output_shape(), view.output_options());
    const Tensor slope = apply_captured(captured, {ones}, wanted)[edge];
    carried = slope.defined() ? stack.mul(slope) : at::zeros_like(stack);
  }
  if (!carried.defined()) return {};
  return Rows(std::make_shared<DenseForm>(carried, "dense"));
}

Rows RowsCollector::carry_one_by_one(size_t position,
                                     size_t edge,
                                     size_t output,
                                     const Rows& rows) const {
  const CapturedNode& captured = capture_.nodes[position];
  const NodeView view(captured.node);
  std::vector<bool> wanted(captured.edges.size(), false);
  wanted[edge] = true;
  const auto dtype = type_of(captured, output);
  std::vector<Tensor> carried;
  for (int64_t n = 0; n < rows.N(); ++n) {
    variable_list gradients(view.num_outputs());
    gradients[output] = rows.dense(n, n + 1).squeeze(0).to(dtype);
    Tensor row = apply_captured(captured, std::move(gradients), wanted)[edge];
    if (!row.defined()) row = at::zeros(view.input_shape(edge), rows.terms()[0].form->options());
    carried.push_back(row);
  }
  return Rows(std::make_shared<DenseForm>(at::stack(carried), "dense"));
}

std::vector<size_t> RowsCollector::parameters_below(size_t position) const {
  // Each node is visited once: in a computed weight the number of paths can double with every op.
  std::vector<size_t> found, todo{position};
  std::unordered_set<size_t> seen{position};
  while (!todo.empty()) {
    const CapturedNode& captured = capture_.nodes[todo.back()];
    todo.pop_back();
    if (captured.parameter >= 0) found.push_back(captured.parameter);
    for (int64_t next : captured.next) {
      if (next >= 0 && seen.insert(next).second) todo.push_back(next);
    }
  }
  return found;
}

Coverage initial_coverage(const Capture& capture, const Parameters& parameters) {
  Coverage coverage;
  coverage.couplings = capture.couplings;
  coverage.leaves_out_shared_terms = !capture.left_out.empty();
  coverage.shared_terms =
      coverage.leaves_out_shared_terms ? capture.left_out : capture.shared_term_names();
  for (size_t p = 0; p < parameters.size(); ++p) {
    const auto& captured = capture.parameters[p];
    ParameterCoverage covered;
    covered.name = parameters[p].name;
    if (captured.leaf < 0) {
      covered.reason = parameters[p].tensor.requires_grad() ? "the losses do not depend on it"
                                                            : "it does not require a gradient";
    } else {
      covered.level =
          captured.reason.empty() ? CoverageLevel::kExactFast : CoverageLevel::kExactSlow;
      covered.reason = captured.reason;
    }
    coverage.parameters.push_back(std::move(covered));
  }
  return coverage;
}

}  // namespace flightdeck
