// SPDX-License-Identifier: MIT
#include "passes/first_order.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include <ATen/ATen.h>

#include "passes/slow_rows.h"
#include "rows/dense.h"

namespace flightdeck {
FirstOrderPass::FirstOrderPass(Capture capture,
                               Parameters parameters,
                               Needs what,
                               GradientOptions options)
    : capture_(std::move(capture)),
      parameters_(std::move(parameters)),
      options_(std::move(options)),
      count_(options_.samples.empty() ? capture_.N : static_cast<int64_t>(options_.samples.size())),
      results_(parameters_, what, options_, count_) {
  check_options(what);
  if (!options_.samples.empty()) {
    samples_ = at::tensor(options_.samples, at::kLong).to(parameters_[0].tensor.device());
  }
  arrivals_.resize(capture_.nodes.size());
  missing_.resize(capture_.nodes.size());
  for (size_t k = 0; k < missing_.size(); ++k) missing_[k] = capture_.nodes[k].arrivals;

  for (const std::string& remark : capture_.remarks) results_.remark(remark);
  for (size_t p = 0; p < parameters_.size(); ++p) {
    const auto& captured = capture_.parameters[p];
    auto& covered = results_.coverage(p);
    if (captured.leaf < 0) {
      covered.reason = parameters_[p].tensor.requires_grad() ? "the losses do not depend on it"
                                                             : "it does not require a gradient";
    } else {
      covered.level =
          captured.reason.empty() ? CoverageLevel::kExactFast : CoverageLevel::kExactSlow;
      covered.reason = captured.reason;
    }
  }
}

void FirstOrderPass::check_options(Needs what) const {
  for (int64_t n : options_.samples) {
    TORCH_CHECK_INDEX(n >= 0 && n < capture_.N,
                      "gradients: options.samples contains ",
                      n,
                      " but the batch of ",
                      capture_.N,
                      " has samples 0 to ",
                      capture_.N - 1,
                      "; pass indices inside the batch");
  }
  if (!what.has(Need::kDots)) return;
  TORCH_CHECK_VALUE(options_.directions.size() == parameters_.size(),
                    "gradients: Need::kDots with ",
                    options_.directions.size(),
                    " directions for ",
                    parameters_.size(),
                    " parameters; set options.directions to one tensor [V, *shape] per parameter");
  const int64_t V = options_.directions[0].dim() > 0 ? options_.directions[0].size(0) : 0;
  for (size_t p = 0; p < parameters_.size(); ++p) {
    Shape expected = parameters_[p].tensor.sizes().vec();
    expected.insert(expected.begin(), V);
    TORCH_CHECK_VALUE(options_.directions[p].sizes().equals(expected),
                      "gradients: direction for '",
                      parameters_[p].name,
                      "' has shape ",
                      options_.directions[p].sizes(),
                      " but must be [V, *shape] = ",
                      at::IntArrayRef(expected),
                      "; stack the V directions in front");
  }
}

bool FirstOrderPass::has_uses(size_t position) const {
  const auto& edges = capture_.nodes[position].edges;
  return std::find(edges.begin(), edges.end(), EdgeKind::kUse) != edges.end();
}

void FirstOrderPass::set_weights(const Tensor& gradient) {
  const compat::PassGuard guard;
  weights_ = gradient.detach();
  if (capture_.is_scalar) {
    const double share = options_.reduction == Reduction::kMean ? double(capture_.N) : 1.0;
    factor_ = weights_.reshape({}).reciprocal().mul(share);
    return;
  }
  // An expanded scalar (mean, sum) weighs all samples alike, and can be divided out at the end.
  const bool is_uniform = capture_.N == 1 || weights_.stride(0) == 0;
  if (is_uniform) {
    factor_ = weights_.select(0, 0).reciprocal();
  } else {
    sample_factor_ = at::where(weights_ == 0, at::zeros_like(weights_), weights_.reciprocal());
  }
}

void FirstOrderPass::visit(size_t position, const variable_list& gradients) {
  if (!has_uses(position)) return;
  const compat::PassGuard guard;
  const CapturedNode& captured = capture_.nodes[position];
  for (size_t e = 0; e < captured.edges.size(); ++e) {
    if (captured.edges[e] != EdgeKind::kUse) continue;
    Rows rows = rows_at(position, e, gradients);
    deliver(captured.next[e], captured.node->next_edge(e).input_nr, std::move(rows));
  }
}

Rows FirstOrderPass::rows_at(size_t position, size_t edge, const variable_list& gradients) {
  const CapturedNode& captured = capture_.nodes[position];
  variable_list scaled = gradients;
  bool any = false;
  for (Tensor& gradient : scaled) {
    if (!gradient.defined()) continue;
    any = true;
    gradient = gradient.detach();
    if (sample_factor_.defined()) {
      gradient = scale_samples(gradient, captured.layout, sample_factor_);
    }
  }
  if (!any) return {};
  const NodeView view(captured.node);
  Rows rows;
  if (captured.rule && scaled[0].defined()) {
    rows = captured.rule->rows(view, edge, scaled[0], captured.layout);
  }
  const bool is_slow = rows.empty();
  if (is_slow) {
    rows = rows_one_by_one(position, edge, scaled);
  } else if (samples_.defined()) {
    rows = rows.select(samples_);
  }
  // One parameter, except for computed weights.
  for (size_t p : parameters_below(captured.next[edge])) {
    if (capture_.parameters[p].is_slow) continue;
    auto& covered = results_.coverage(p);
    covered.uses.push_back({view.name(), rows.terms().front().form->name(), ""});
    if (is_slow) {
      covered.level = CoverageLevel::kExactSlow;
      covered.reason = view.name() + " applied once per sample: it has no rule for its rows";
    }
  }
  return rows;
}

Rows FirstOrderPass::rows_one_by_one(size_t position,
                                     size_t edge,
                                     const variable_list& gradients) const {
  const CapturedNode& captured = capture_.nodes[position];
  std::vector<bool> wanted(captured.edges.size(), false);
  wanted[edge] = true;
  std::vector<Tensor> rows;
  for (int64_t k = 0; k < count_; ++k) {
    const int64_t n = options_.samples.empty() ? k : options_.samples[k];
    variable_list single = gradients;
    for (Tensor& gradient : single) {
      if (gradient.defined()) gradient = only_sample(gradient, captured.layout, n);
    }
    rows.push_back(apply_node(captured.node, std::move(single), wanted)[edge]);
  }
  const Shape shape = NodeView(captured.node).input_shape(edge);
  for (Tensor& row : rows) {
    if (!row.defined()) row = at::zeros(shape, parameters_[0].tensor.options());
  }
  return Rows(std::make_shared<DenseForm>(at::stack(rows), "dense"));
}

void FirstOrderPass::deliver(size_t position, size_t output, Rows rows) {
  const CapturedNode& captured = capture_.nodes[position];
  if (!rows.empty()) arrivals_[position].push_back({output, std::move(rows)});
  if (--missing_[position] > 0) return;
  std::vector<Arrival> arrivals = std::move(arrivals_[position]);
  arrivals_[position].clear();
  if (captured.parameter >= 0) {
    Rows all;
    for (Arrival& arrival : arrivals) all.add(std::move(arrival.rows));
    all.merge();
    complete(captured.parameter, std::move(all));
    return;
  }
  for (size_t e = 0; e < captured.edges.size(); ++e) {
    if (captured.edges[e] != EdgeKind::kFree) continue;
    Rows carried = carry(position, e, arrivals);
    deliver(captured.next[e], captured.node->next_edge(e).input_nr, std::move(carried));
  }
}

Rows FirstOrderPass::carry(size_t position, size_t edge, const std::vector<Arrival>& arrivals) {
  const CapturedNode& captured = capture_.nodes[position];
  const NodeView view(captured.node);
  Rows carried;
  for (const Arrival& arrival : arrivals) {
    Rows rows = arrival.rows;
    if (!captured.rule || !captured.rule->carry(view, edge, arrival.output, rows)) {
      rows = carry_one_by_one(position, edge, arrival.output, arrival.rows);
      for (size_t p : parameters_below(captured.next[edge])) {
        auto& covered = results_.coverage(p);
        covered.level = CoverageLevel::kExactSlow;
        covered.reason = view.name() + " between parameter and use, applied once per sample";
      }
    }
    carried.add(std::move(rows));
  }
  carried.merge();
  return carried;
}

Rows FirstOrderPass::carry_one_by_one(size_t position,
                                      size_t edge,
                                      size_t output,
                                      const Rows& rows) const {
  const CapturedNode& captured = capture_.nodes[position];
  const NodeView view(captured.node);
  std::vector<bool> wanted(captured.edges.size(), false);
  wanted[edge] = true;
  const auto dtype = c10::typeMetaToScalarType(captured.node->input_metadata(output).dtype());
  std::vector<Tensor> carried;
  for (int64_t n = 0; n < rows.N(); ++n) {
    variable_list gradients(view.num_outputs());
    gradients[output] = rows.dense(n, n + 1).squeeze(0).to(dtype);
    Tensor row = apply_node(captured.node, std::move(gradients), wanted)[edge];
    if (!row.defined()) row = at::zeros(view.input_shape(edge), rows.terms()[0].form->options());
    carried.push_back(row);
  }
  return Rows(std::make_shared<DenseForm>(at::stack(carried), "dense"));
}

std::vector<size_t> FirstOrderPass::parameters_below(size_t position) const {
  // Each node once: in a computed weight the number of paths can double with every op.
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

void FirstOrderPass::complete(size_t parameter, Rows rows) {
  if (rows.empty()) {
    results_.report_unused(parameter);
    return;
  }
  Questions questions = results_.questions_for(parameter);
  if (options_.reuse_gradients) questions.sum = true;
  Answers answers = rows.answer(questions);
  if (options_.reuse_gradients) hand_over_gradient(parameter, rows, answers);
  for (auto& use : results_.coverage(parameter).uses) use.algorithm = answers.algorithm;
  results_.report(parameter, answers, factor_);
}

void FirstOrderPass::hand_over_gradient(size_t parameter,
                                        const Rows& rows,
                                        const Answers& answers) {
  // With differing weights the rows were rescaled: weigh them again.
  Tensor gradient = answers.sum.mul(static_cast<double>(count_));
  if (sample_factor_.defined()) gradient = rows.combine(weights_.unsqueeze(0)).squeeze(0);
  Tensor tensor = parameters_[parameter].tensor;
  gradient = gradient.to(tensor.scalar_type()).contiguous();
  if (tensor.grad().defined()) {
    tensor.mutable_grad().add_(gradient);
  } else {
    tensor.mutable_grad() = gradient.clone();
  }
}

void FirstOrderPass::run_slow() {
  std::vector<size_t> slow;
  for (size_t p = 0; p < parameters_.size(); ++p) {
    if (capture_.parameters[p].is_slow) slow.push_back(p);
  }
  if (slow.empty()) return;
  const compat::PassGuard guard;
  std::vector<SlowRows> rows;
  std::unordered_map<int64_t, size_t> slot;
  for (size_t p : slow) {
    slot[static_cast<int64_t>(p)] = rows.size();
    rows.emplace_back(results_.questions_for(p));
  }
  const auto& root = *capture_.nodes[0].node;
  const auto options = root.input_metadata(capture_.root_output).options();
  for (int64_t k = 0; k < count_; ++k) {
    const int64_t n = options_.samples.empty() ? k : options_.samples[k];
    Tensor seed = at::zeros(compat::shape_of(root, capture_.root_output), options);
    seed.view({-1})[n] = 1;
    walk(
        capture_,
        seed,
        [this](const CapturedNode& captured, size_t e) {
          return capture_.nodes[captured.next[e]].leads_to_slow;
        },
        [&](size_t position, const variable_list& gradients) {
          const auto found = slot.find(capture_.nodes[position].parameter);
          if (found != slot.end()) rows[found->second].add(gradients[0]);
        });
    for (size_t s = 0; s < slow.size(); ++s) {
      // A sample that does not reach the parameter has a zero row.
      if (rows[s].count() == k) rows[s].add(at::zeros_like(parameters_[slow[s]].tensor));
    }
  }
  for (size_t s = 0; s < slow.size(); ++s) {
    const Answers answers = rows[s].finish();
    auto& covered = results_.coverage(slow[s]);
    covered.uses.push_back(
        {"(whole graph)",
         "dense",
         capture_.N == 1 ? "the gradient of the one sample" : "one backward pass per sample"});
    results_.report(slow[s], answers, Tensor());
  }
}

void FirstOrderPass::run(const Tensor& losses) {
  const compat::PassGuard guard;
  run_slow();
  Tensor seed = at::ones_like(losses);
  if (capture_.is_scalar) set_weights(seed);
  walk(
      capture_,
      seed,
      [](const CapturedNode& captured, size_t e) { return captured.edges[e] == EdgeKind::kBatch; },
      [this](size_t position, const variable_list& gradients) { visit(position, gradients); });
}

Gradients FirstOrderPass::finish(const Tensor& losses) {
  const compat::PassGuard guard;
  std::string unused;
  for (size_t p = 0; p < parameters_.size(); ++p) {
    if (results_.is_reported(p)) continue;
    auto& covered = results_.coverage(p);
    if (capture_.parameters[p].leaf < 0) {
      results_.report_unused(p);
      unused += (unused.empty() ? "" : ", ") + parameters_[p].name;
    } else {
      covered.level = CoverageLevel::kRefused;
      covered.reason = "the backward pass did not reach all of its uses";
      results_.remark("no answer for '" + covered.name + "': " + covered.reason);
    }
  }
  if (!unused.empty()) results_.remark("zero rows, no part in the losses: " + unused);
  // A sum is finite only if all summands are: one number to fetch from a device, as a rule.
  if (!std::isfinite(losses.sum().item<double>())) {
    const int64_t bad = losses.numel() - losses.isfinite().sum().item<int64_t>();
    results_.remark(std::to_string(bad) + " of " + std::to_string(losses.numel()) +
                    " losses are NaN or infinite; their rows are too");
  }
  const int64_t zero =
      sample_factor_.defined() ? (weights_ == 0).sum().item<int64_t>() : int64_t{0};
  if (zero > 0) {
    results_.remark(std::to_string(zero) +
                    " samples have weight zero in the reduced loss; their rows are zero");
  }
  return results_.finish();
}

}  // namespace flightdeck
