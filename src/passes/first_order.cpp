// SPDX-License-Identifier: MIT
#include "passes/first_order.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include <ATen/ATen.h>

#include "passes/gradient_fields.h"
#include "passes/slow_rows.h"
#include "rows/dense.h"
#include "rows/gpu_tables.h"

namespace flightdeck {
namespace {

// This bounds the factors that wait on a GPU for those of other parameters, in multiples of the
// scratch memory.
constexpr int64_t kMostWaiting = 4;

// Returns everything an optimizer may change in place.
std::vector<Tensor> leaves_of(const Capture& capture, const Parameters& parameters) {
  std::vector<Tensor> leaves;
  for (const auto& [name, tensor] : parameters) leaves.push_back(tensor);
  for (const CapturedNode& captured : capture.nodes) {
    const auto* leaf = dynamic_cast<const compat::ag::AccumulateGrad*>(captured.node);
    if (leaf && captured.parameter < 0) leaves.push_back(leaf->variable);
  }
  return leaves;
}

void check_bins(const Bins& bins) {
  TORCH_CHECK_VALUE(
      bins.count > 0 && std::isfinite(bins.low) && std::isfinite(bins.high) && bins.low < bins.high,
      "gradients: histogram of ",
      bins.count,
      " bins over [",
      bins.low,
      ", ",
      bins.high,
      "]; give at least one bin and a finite range with low < high");
}

}  // namespace

FirstOrderPass::FirstOrderPass(CapturedBatch batch,
                               Needs what,
                               GradientOptions options,
                               bool hears_arrivals)
    : batch_(std::move(batch)),
      capture_(*batch_.capture),
      parameters_(batch_.parameters),
      options_(std::move(options)),
      count_(batch_.count()),
      results_(parameters_, what, options_, batch_.memory.scratch_bytes, count_, hears_arrivals),
      asks_rows_(!hears_arrivals || flightdeck::asks_rows(what, options_)),
      needs_arrivals_(what.has(Need::kArrivedNorm) && hears_arrivals),
      arrivals_(parameters_),
      collector_(
          capture_, batch_.samples, &results_.coverage(), [this](size_t parameter, Rows rows) {
            complete(parameter, std::move(rows));
          }) {
  check_options(what);
  for (const std::string& remark : capture_.remarks) results_.remark(remark);
  if (asks_rows_) {
    for (const std::string& text : row_remarks(capture_, batch_.batch_norm)) remark(text);
  }
  results_.coverage() = initial_coverage(capture_, parameters_);
  if (options_.keep_rows) {
    kept_ = std::make_shared<FactoredRows>(
        parameters_, count_, batch_.memory.scratch_bytes, leaves_of(capture_, parameters_));
  }
}

void FirstOrderPass::check_options(Needs what) const {
  check_samples(capture_, batch_.samples, "gradients", "samples");
  for (const Bins& bins : options_.histograms) check_bins(bins);
  for (const JointBins& bins : options_.joint_histograms) {
    check_bins(bins.gradients);
    check_bins(bins.parameters);
  }
  if (what.has(Need::kDots)) {
    check_directions(options_.directions, parameters_, "gradients", "options.directions");
  }
}

void FirstOrderPass::set_weights(const Tensor& gradient) {
  const compat::PassGuard guard;
  weights_ = gradient.detach();
  if (capture_.is_scalar) {
    const double share = batch_.reduction == Reduction::kMean ? double(capture_.N) : 1.0;
    factor_ = weights_.reshape({}).reciprocal().mul(share);
    scale_early();
    return;
  }
  // An expanded scalar (mean, sum) weighs all samples alike, and can be divided out at the end.
  const bool is_uniform = capture_.N == 1 || weights_.stride(0) == 0;
  if (is_uniform) {
    factor_ = weights_.select(0, 0).reciprocal();
  } else {
    sample_factor_ = weights_.reciprocal();
  }
  scale_early();
}

int64_t FirstOrderPass::unusable_weights(const Tensor& gradient) const {
  const bool is_one = gradient.numel() == 1 || gradient.stride(0) == 0;
  if (is_one && runs_behind(gradient)) return 0;
  const Tensor weights = is_one ? gradient.reshape({-1}).slice(0, 0, 1) : gradient;
  const auto lost = ((weights == 0).logical_or_(weights.isfinite().logical_not())).sum();
  return lost.item<int64_t>() * (is_one ? capture_.N : 1);
}

void FirstOrderPass::scale_early() {
  // Entries that are counted must be scaled first: where they are still few, in the factors.
  const bool counts = !options_.histograms.empty() || !options_.joint_histograms.empty();
  if (counts) std::swap(factor_, gradient_factor_);
}

void FirstOrderPass::visit(size_t position, const variable_list& gradients) {
  if (!collector_.has_uses(position)) return;
  const compat::PassGuard guard;
  variable_list scaled = gradients;
  for (Tensor& gradient : scaled) {
    if (!gradient.defined()) continue;
    if (gradient.requires_grad()) gradient = gradient.detach();
    if (sample_factor_.defined()) {
      gradient = scale_samples(gradient, capture_.nodes[position].layout, sample_factor_);
    }
    if (gradient_factor_.defined()) gradient = gradient.mul(gradient_factor_.to(gradient.dtype()));
  }
  collector_.visit(position, scaled);
}

void FirstOrderPass::complete(size_t parameter, Rows rows) {
  if (rows.empty()) {
    results_.report_unused(parameter);
    return;
  }
  Questions questions = results_.questions_for(parameter);
  if (options_.reuse_gradients) questions.what = questions.what | Need::kMean;
  const bool may_wait = !options_.reuse_gradients && !options_.on_parameter;
  if (may_wait && together_.add(parameter, rows, questions)) {
    if (kept_) kept_->keep(parameter, rows, factor_);
    if (together_.bytes() > kMostWaiting * batch_.memory.scratch_bytes) answer_together();
    return;
  }
  const bool keeps_written = kept_ && kept_->wants_written(rows, questions);
  if (keeps_written) questions.what = questions.what | Need::kIndividual;
  Answers answers = rows.answer(questions);
  if (options_.reuse_gradients) hand_over_gradient(parameter, rows, answers);
  if (keeps_written) {
    kept_->keep_written(parameter, answers.individual, factor_);
  } else if (kept_) {
    kept_->keep(parameter, rows, factor_, answers.mean_dots);
  }
  for (auto& use : results_.coverage(parameter).uses) use.algorithm = answers.algorithm;
  results_.report(parameter, std::move(answers), factor_);
}

void FirstOrderPass::answer_together() {
  for (RowsTogether::Item& item : together_.answer()) {
    for (auto& use : results_.coverage(item.parameter).uses) {
      use.algorithm = item.answers.algorithm;
    }
    results_.report(item.parameter, std::move(item.answers), factor_);
  }
}

void FirstOrderPass::hand_over_gradient(size_t parameter,
                                        const Rows& rows,
                                        const Answers& answers) {
  // With differing weights the rows were rescaled, so they are weighed again.
  Tensor gradient = answers.mean.mul(static_cast<double>(count_));
  if (sample_factor_.defined()) gradient = rows.combine(weights_.unsqueeze(0)).squeeze(0);
  if (gradient_factor_.defined()) gradient.div_(gradient_factor_.to(gradient.options()));
  if (on_handed_over_) on_handed_over_(parameter, gradient);
  if (needs_arrivals_) arrive(parameter, gradient, /*becomes_grad=*/false);
  Tensor tensor = parameters_[parameter].tensor;
  gradient = gradient.to(tensor.scalar_type()).contiguous();
  if (tensor.grad().defined()) {
    tensor.mutable_grad().add_(gradient);
  } else {
    tensor.mutable_grad() = gradient.clone();
  }
}

void FirstOrderPass::set_elsewhere(const std::vector<std::vector<std::string>>& ops) {
  for (size_t p = 0; p < ops.size(); ++p) results_.coverage(p).elsewhere = ops[p];
}

std::unique_ptr<FirstOrderPass> FirstOrderPass::hand_over_apart() {
  GradientOptions options;
  options.reuse_gradients = true;
  CapturedBatch whole = batch_;
  whole.samples.clear();
  auto other = std::make_unique<FirstOrderPass>(
      std::move(whole), Needs(), options, /*hears_arrivals=*/false);
  other->on_handed_over_ = [this](size_t parameter, const Tensor& gradient) {
    arrive(parameter, gradient, /*becomes_grad=*/false);
  };
  options_.reuse_gradients = false;
  return other;
}

void FirstOrderPass::arrive(size_t parameter, const Tensor& gradient, bool becomes_grad) {
  if (!needs_arrivals_ || !gradient.defined()) return;
  // The gradient is read at once, or when it is `.grad`, and is not held until then: PyTorch makes
  // it `.grad` without a copy if nobody holds it.
  arrivals_.add(parameter, gradient, becomes_grad && !options_.on_parameter);
  if (options_.on_parameter) settle_arrivals();
}

void FirstOrderPass::set_arrival_weights(const Tensor& gradient) {
  if (!needs_arrivals_) return;
  const compat::PassGuard guard;
  const bool is_sum = capture_.is_scalar && batch_.reduction == Reduction::kSum;
  arrival_weight_ = gradient.sum().mul(is_sum ? static_cast<double>(capture_.N) : 1.0).abs_();
}

void FirstOrderPass::settle_arrivals() {
  if (!arrival_weight_.defined()) return;  // it comes with the first node of the pass
  for (const Arrivals::Squares& arrived : arrivals_.take()) {
    const auto weight = arrival_weight_.to(arrived.squares.options(), /*non_blocking=*/true);
    const std::vector<Tensor> norms = arrived.squares.sqrt().div_(weight).unbind(0);
    for (size_t k = 0; k < norms.size(); ++k) results_.arrive(arrived.parameters[k], norms[k]);
  }
}

bool FirstOrderPass::has_slow() const {
  return std::any_of(capture_.parameters.begin(),
                     capture_.parameters.end(),
                     [](const CapturedParameter& parameter) { return parameter.is_slow; });
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
    rows.emplace_back(results_.questions_for(p), count_, parameters_[p].tensor, options_.keep_rows);
  }
  const auto& root = *capture_.nodes[0].node;
  const auto options = root.input_metadata(capture_.root_output).options();
  for (int64_t k = 0; k < count_; ++k) {
    const int64_t n = batch_.samples.empty() ? k : batch_.samples[k];
    Tensor seed = at::zeros(compat::shape_of(root, capture_.root_output), options);
    seed.view({-1})[n] = 1;
    walk(
        capture_,
        batch_.batch_norm,
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
    Answers answers = rows[s].finish();
    if (kept_) kept_->keep(slow[s], rows[s].rows(), Tensor());
    auto& covered = results_.coverage(slow[s]);
    covered.uses.push_back(
        {"(whole graph)",
         "dense",
         capture_.N == 1 ? "the gradient of the one sample" : "one backward pass per sample"});
    results_.report(slow[s], std::move(answers), Tensor());
  }
}

void FirstOrderPass::run() {
  const compat::PassGuard guard;
  run_slow();
  Tensor seed = at::ones_like(batch_.losses);
  if (capture_.is_scalar) set_weights(seed);
  walk(
      capture_,
      batch_.batch_norm,
      seed,
      [](const CapturedNode& captured, size_t e) { return captured.edges[e] == EdgeKind::kBatch; },
      [this](size_t position, const variable_list& gradients) { visit(position, gradients); });
}

Gradients FirstOrderPass::finish() {
  const Tensor& losses = batch_.losses;
  const compat::PassGuard guard;
  answer_together();
  settle_arrivals();
  std::string unused;
  for (size_t p = 0; p < parameters_.size(); ++p) {
    if (results_.is_reported(p)) continue;
    auto& covered = results_.coverage(p);
    if (capture_.parameters[p].leaf < 0) {
      results_.report_unused(p);
      unused += (unused.empty() ? "" : ", ") + parameters_[p].name;
    } else if (!asks_rows_) {
      results_.report_unused(p);  // all there is to say is what arrived
    } else {
      covered.level = CoverageLevel::kRefused;
      covered.reason = "the backward pass did not reach all of its uses";
      results_.remark("no answer for '" + covered.name + "': " + covered.reason);
    }
  }
  if (!unused.empty()) results_.remark("zero rows, no part in the losses: " + unused);
  // A sum is finite only if all summands are, so that mostly one number is fetched.
  const bool looks = !runs_behind(losses) || options_.looks_at_losses;
  if (looks && !std::isfinite(losses.sum().item<double>())) {
    const int64_t bad = losses.numel() - losses.isfinite().sum().item<int64_t>();
    results_.remark(std::to_string(bad) + " of " + std::to_string(losses.numel()) +
                    " losses are NaN or infinite; their rows are too");
  }
  Gradients result = results_.finish();
  result.rows = std::move(kept_);
  return result;
}

}  // namespace flightdeck
