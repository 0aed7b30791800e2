// SPDX-License-Identifier: MIT
#include "passes/results.h"

#include <algorithm>

#include <ATen/ATen.h>

#include "rows/counts.h"
#include "rows/rounding.h"
#include "rows/sweeps.h"

namespace flightdeck {
namespace {

// Launches are dear on a GPU and its memory is large: do more in one piece there.
constexpr int64_t kCudaScratchFactor = 16;

Tensor times(const Tensor& tensor, const Tensor& factor) {
  if (!tensor.defined() || !factor.defined()) return tensor;
  return tensor.mul(factor.to(tensor.options()));
}

void add(Tensor& total, const Tensor& part) {
  if (part.defined()) total = total.defined() ? total + part : part.clone();
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
  questions.sum = what_.has(Need::kMean) || what_.has(Need::kVariance) ||
                  (what_.has(Need::kArrivedNorm) && !hears_arrivals_);
  questions.second = what_.has(Need::kSecondMoment);
  questions.variance = what_.has(Need::kVariance);
  questions.deviations = what_.has(Need::kDeviations);
  questions.norms = what_.has(Need::kNorms);
  questions.gram = what_.has(Need::kGram);
  questions.dense = what_.has(Need::kIndividual);
  questions.mean_dots = what_.has(Need::kMeanDots) || questions.deviations;
  if (what_.has(Need::kDots)) questions.directions = options_.directions[parameter];
  questions.scratch_bytes = scratch_bytes_ * (tensor.is_cuda() ? kCudaScratchFactor : 1);
  questions.share = 1.0 / static_cast<double>(count_);
  questions.histograms = options_.histograms;
  questions.joint_histograms = options_.joint_histograms;
  for (const JointBins& bins : options_.joint_histograms) {
    questions.value_bins.push_back(value_bin_index(tensor.detach(), bins.parameters));
  }
  return questions;
}

void Results::report(size_t parameter, const Answers& answers, const Tensor& factor) {
  is_reported_[parameter] = true;
  ParameterGradients& out = result_.parameters[parameter];
  const Tensor squared = factor.defined() ? factor.square() : factor;
  // Sums are ours alone, and as large as the parameter: scale them in place.
  const Tensor mean = answers.sum, second = answers.second;
  if (factor.defined() && mean.defined()) mean.mul_(factor.to(mean.options()));
  for (const Tensor& squares : {second, answers.variance}) {
    if (factor.defined() && squares.defined()) squares.mul_(squared.to(squares.options()));
  }
  if (what_.has(Need::kMean)) out.mean = mean;
  out.second_moment = second;
  out.variance = answers.variance;
  out.individual = times(answers.dense, factor);
  out.gram = times(answers.gram, squared);
  out.dots = times(answers.dots, factor);
  const Tensor mean_dots = times(answers.mean_dots, squared);
  if (what_.has(Need::kMeanDots)) out.mean_dots = mean_dots;
  out.deviations = times(answers.deviations, squared);
  out.epsilon = answers.epsilon;
  if (what_.has(Need::kDeviations)) {
    out.squared_mean = mean_dots.mean();
  } else if (what_.has(Need::kVariance)) {
    out.squared_mean = sum_of_squares(mean);
  }
  if (answers.norms.defined()) {
    out.norms = factor.defined() ? times(answers.norms, factor.abs()) : answers.norms;
    norms_.push_back(out.norms);
  }
  add(result_.total.gram, out.gram);
  add(result_.total.dots, out.dots);
  add(result_.total.mean_dots, out.mean_dots);
  add(result_.total.deviations, out.deviations);
  add(result_.total.squared_mean, out.squared_mean);
  result_.total.epsilon = std::max(result_.total.epsilon, out.epsilon);
  report_counts(answers, out);
  if (what_.has(Need::kArrivedNorm)) {
    if (!hears_arrivals_) arrived_norms_[parameter] = at::linalg_vector_norm(mean, 2);
    out.arrived_norm = arrived_norms_[parameter];
    if (!out.arrived_norm.defined()) return;  // passed on when it arrives
  }
  pass_on(parameter);
}

void Results::report_counts(const Answers& answers, ParameterGradients& out) {
  result_.total.histograms.resize(answers.histograms.size());
  result_.total.joint_histograms.resize(answers.joint_histograms.size());
  for (size_t k = 0; k < answers.histograms.size(); ++k) {
    out.histograms.push_back(answers.histograms[k]);
    add(result_.total.histograms[k], out.histograms[k]);
  }
  for (size_t k = 0; k < answers.joint_histograms.size(); ++k) {
    // The last column holds entries whose parameter is NaN.
    const int64_t columns = options_.joint_histograms[k].parameters.count;
    out.joint_histograms.push_back(answers.joint_histograms[k].slice(1, 0, columns).contiguous());
    add(result_.total.joint_histograms[k], out.joint_histograms[k]);
  }
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
  if (questions.sum) answers.sum = at::zeros(tensor.sizes(), options);
  if (questions.second) answers.second = at::zeros(tensor.sizes(), options);
  if (questions.norms) answers.norms = at::zeros({count_}, options);
  if (questions.gram) answers.gram = at::zeros({count_, count_}, options);
  if (questions.dense) {
    Shape sizes = tensor.sizes().vec();
    sizes.insert(sizes.begin(), count_);
    answers.dense = at::zeros(sizes, options);
  }
  if (questions.directions.defined()) {
    answers.dots = at::zeros({count_, questions.directions.size(0)}, options);
  }
  const auto doubles = options.dtype(at::kDouble);
  if (questions.mean_dots) answers.mean_dots = at::zeros({count_}, doubles);
  if (questions.deviations) answers.deviations = at::zeros({count_}, doubles);
  if (questions.variance) answers.variance = at::zeros(tensor.sizes(), options);
  count_zeros(count_, tensor.numel(), options, questions, answers);
  report(parameter, answers, Tensor());
}

Gradients Results::finish() {
  if (!norms_.empty()) {
    // In double: the total may add up thousands of parameters.
    const Tensor all = at::stack(norms_);
    result_.total.norms = at::linalg_vector_norm(all.to(at::kDouble), 2, {0}).to(all.dtype());
  }
  if (what_.has(Need::kArrivedNorm)) {
    for (size_t p = 0; p < arrived_norms_.size(); ++p) {
      const auto options = parameters_[p].tensor.options();
      if (!arrived_norms_[p].defined()) {
        arrive(p, at::zeros({}, in_row_precision(at::empty({0}, options)).options()));
      }
    }
    const Tensor all = at::stack(arrived_norms_);
    result_.total.arrived_norm = at::linalg_vector_norm(all.to(at::kDouble), 2).to(all.dtype());
  }
  return std::move(result_);
}

}  // namespace flightdeck
