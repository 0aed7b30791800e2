// SPDX-License-Identifier: MIT
#include "passes/results.h"

#include <algorithm>

#include <ATen/ATen.h>

#include "rows/form.h"
#include "rows/gpu_tables.h"
#include "rows/histogram.h"
#include "rows/sweeps.h"

namespace flightdeck {
namespace {

// Launches are dear on a GPU and its memory is large, so that more is done in one piece there.
constexpr int64_t kCudaScratchFactor = 16;

// Returns true if the total is the root of a sum of squares, not a sum over the parameters.
bool is_root_in_total(const Answer& answer) { return answer.kind().power == Power::kMagnitude; }

// Returns true for small answers, which are added up together: every operation costs more than its
// arithmetic there.
bool waits_for_others(const Answer& answer, const Values& values) {
  if ((!answer.is_sum_in_total() && !is_root_in_total(answer)) || values.empty()) return false;
  return std::all_of(values.begin(), values.end(), fits_sums);
}

Tensor added_one_by_one(const TableSum& sum) {
  std::vector<Tensor> all;
  // Parameters may be spread over devices.
  for (const Tensor& part : sum.parts) all.push_back(part.to(sum.parts[0].device()));
  const Tensor parts = at::stack(all);
  if (!sum.is_root) return parts.sum(0);
  return at::linalg_vector_norm(parts.to(at::kDouble), 2, {0}).to(parts.dtype());
}

std::vector<Tensor> added_up(const std::vector<TableSum>& sums) {
  if (sums.empty()) return {};
  if (auto all = add_up_by_table(sums)) return std::move(*all);
  std::vector<Tensor> all;
  for (const TableSum& sum : sums) all.push_back(added_one_by_one(sum));
  return all;
}

}  // namespace

Results::Results(const Parameters& parameters,
                 Needs what,
                 const GradientOptions& options,
                 int64_t scratch_bytes,
                 int64_t count,
                 bool hears_arrivals)
    : parameters_(parameters),
      what_(what),
      options_(options),
      scratch_bytes_(scratch_bytes),
      count_(count),
      hears_arrivals_(hears_arrivals),
      is_reported_(parameters.size(), false),
      arrived_norms_(parameters.size()) {
  Questions questions;
  questions.what = what;
  questions.histograms = options.histograms;
  questions.joint_histograms = options.joint_histograms;
  asked_ = asked(questions);
  totals_.resize(asked_.size());
  waiting_parts_.resize(asked_.size());
  for (const Answer* answer : asked_) questions.what = questions.what | answer->asks_along();
  const bool is_norm_of_mean = what.has(Need::kArrivedNorm) && !hears_arrivals;
  if (is_norm_of_mean) questions.what = questions.what | Need::kMean;
  needed_ = asked(questions);
  result_.batch_size = count;
  result_.total.name = "total";
  result_.parameters.resize(parameters.size());
  result_.coverage.parameters.resize(parameters.size());
  for (size_t p = 0; p < parameters.size(); ++p) {
    result_.parameters[p].name = result_.coverage.parameters[p].name = parameters[p].name;
  }
}

Questions Results::questions_for(size_t parameter) const {
  const Tensor& tensor = parameters_[parameter].tensor;
  Questions questions;
  questions.what = needs_of(needed_);
  if (what_.has(Need::kDots)) {
    questions.directions = options_.directions[parameter];
    if (options_.known_directions) {
      questions.along = options_.known_directions->of_parameter[parameter];
    }
  }
  questions.scratch_bytes = scratch_bytes_ * (tensor.is_cuda() ? kCudaScratchFactor : 1);
  questions.share = 1.0 / static_cast<double>(count_);
  questions.histograms = options_.histograms;
  questions.joint_histograms = options_.joint_histograms;
  for (const JointBins& bins : options_.joint_histograms) {
    questions.value_bins.push_back(value_bin_index(tensor.detach(), bins.parameters));
  }
  return questions;
}

void Results::report(size_t parameter, Answers answers, const Tensor& factor) {
  is_reported_[parameter] = true;
  ParameterGradients& out = result_.parameters[parameter];
  for (size_t k = 0; k < needed_.size() && factor.defined(); ++k) {
    Values values = needed_[k]->get(answers);
    needed_[k]->scale(values, factor);
    needed_[k]->put(answers, std::move(values));
  }
  if (what_.has(Need::kDeviations)) {
    // A kernel gives this together with the deviations, but unscaled.
    const bool is_known = answers.squared_mean.defined() && !factor.defined();
    out.squared_mean = is_known ? answers.squared_mean : answers.mean_dots.mean();
  } else if (what_.has(Need::kVariance)) {
    out.squared_mean = sum_of_squares(answers.mean);
  }
  for (size_t k = 0; k < asked_.size(); ++k) {
    const Values values = asked_[k]->get(answers);
    asked_[k]->put(out, values);
    if (waits_for_others(*asked_[k], values)) {
      waiting_parts_[k].push_back(values);
    } else {
      asked_[k]->add_to_total(totals_[k], values);
    }
  }
  out.epsilon = answers.epsilon;
  if (out.squared_mean.defined()) squared_means_.push_back(out.squared_mean);
  result_.total.epsilon = std::max(result_.total.epsilon, out.epsilon);
  if (what_.has(Need::kArrivedNorm)) {
    if (!hears_arrivals_) arrived_norms_[parameter] = at::linalg_vector_norm(answers.mean, 2);
    out.arrived_norm = arrived_norms_[parameter];
    if (!out.arrived_norm.defined()) return;  // passed on when it arrives
  }
  pass_on(parameter);
}

void Results::arrive(size_t parameter, const Tensor& norm) {
  if (arrived_norms_[parameter].defined()) return;
  arrived_norms_[parameter] = norm;
  if (!is_reported_[parameter]) return;
  result_.parameters[parameter].arrived_norm = norm;
  pass_on(parameter);
}

void Results::pass_on(size_t parameter) {
  if (!options_.on_parameter) return;
  ParameterGradients& out = result_.parameters[parameter];
  options_.on_parameter(out);
  out = ParameterGradients();
  out.name = parameters_[parameter].name;
}

void Results::report_unused(size_t parameter) {
  const Tensor& tensor = parameters_[parameter].tensor;
  const auto options = in_row_precision(at::empty({0}, tensor.options())).options();
  const Questions questions = questions_for(parameter);
  Answers answers;
  answer_each(
      asked(questions),
      [&](const Answer& answer) {
        return answer.zeros(count_, tensor.sizes().vec(), options, questions);
      },
      answers);
  report(parameter, std::move(answers), Tensor());
}

// Computes the sums over the parameters, all in one go.
void Results::finish_totals() {
  std::vector<TableSum> sums;
  for (const std::vector<Values>& parts : waiting_parts_) {
    for (size_t v = 0; !parts.empty() && v < parts[0].size(); ++v) {
      TableSum& sum = sums.emplace_back();
      sum.is_root = is_root_in_total(*asked_[&parts - waiting_parts_.data()]);
      for (const Values& part : parts) sum.parts.push_back(part[v]);
    }
  }
  if (!squared_means_.empty()) sums.push_back({squared_means_, false});
  const bool has_norms = what_.has(Need::kArrivedNorm);
  if (has_norms) sums.push_back({arrived_norms_, /*is_root=*/true});
  const std::vector<Tensor> all = added_up(sums);
  auto next = all.begin();
  for (size_t k = 0; k < asked_.size(); ++k) {
    const size_t count = waiting_parts_[k].empty() ? 0 : waiting_parts_[k][0].size();
    const Values waited(next, next + static_cast<std::ptrdiff_t>(count));
    next += static_cast<std::ptrdiff_t>(count);
    if (totals_[k].empty()) {
      totals_[k] = waited;
    } else if (count > 0) {
      asked_[k]->add_to_total(totals_[k], waited);
    }
    if (totals_[k].empty()) continue;
    if (totals_[k].size() != count || !is_root_in_total(*asked_[k])) {
      asked_[k]->finish_total(totals_[k]);
    }
    asked_[k]->put(result_.total, std::move(totals_[k]));
  }
  if (!squared_means_.empty()) result_.total.squared_mean = *next++;
  if (has_norms) result_.total.arrived_norm = *next;
}

Gradients Results::finish() {
  if (what_.has(Need::kArrivedNorm)) {
    for (size_t p = 0; p < arrived_norms_.size(); ++p) {
      if (arrived_norms_[p].defined()) continue;
      const auto options = parameters_[p].tensor.options().requires_grad(false);
      const auto rows = in_row_precision(at::empty({0}, options)).options();
      arrive(p, at::zeros({}, hears_arrivals_ ? rows.dtype(at::kDouble) : rows));
    }
  }
  finish_totals();
  return std::move(result_);
}

}  // namespace flightdeck
