// SPDX-License-Identifier: MIT
#include "cockpit/fetched_step.h"

#include <ATen/ATen.h>

#include "cockpit/step_histograms.h"
#include "graph/error_message.h"
#include "passes/gradient_fields.h"

namespace flightdeck {
namespace {

// Visits the tensors of answers that are numbers per sample or parameter.
template <typename Visit>
void for_each_number(const Visit& visit) {
  for (const GradientField& field : gradient_fields()) {
    if (field.is_small) visit(field.need, field.tensor);
  }
  visit(Need::kDeviations, &ParameterGradients::squared_mean);
}

ParameterGradients numbers_of(const ParameterGradients& all, const StepNeeds& needs) {
  ParameterGradients numbers;
  numbers.name = all.name;
  numbers.epsilon = all.epsilon;
  for_each_number([&](Need need, Tensor ParameterGradients::*field) {
    if (needs.gradients.has(need)) numbers.*field = all.*field;
  });
  if (!needs.histograms.empty()) numbers.histograms = all.histograms;
  return numbers;
}

[[noreturn]] void refuse(const char* what) {
  TORCH_CHECK(false,
              "step view: the quantity reads ",
              what,
              ", which is more than numbers per sample, parameter or bin; declare it without "
              "Quantity::reads_numbers");
}

// Calls `read` and returns why it failed.
template <typename Read>
std::string error_of(const Read& read) {
  try {
    read();
    return "";
  } catch (...) {
    return current_message();
  }
}

}  // namespace

FetchedStep::FetchedStep(const StepContext& context,
                         const Step& step,
                         const std::vector<StepNeeds>& needs)
    : context_(context),
      step_(step.step()),
      batch_size_(step.batch_size()),
      seconds_(step.seconds()),
      rates_(step.rates()),
      samples_(step.samples()),
      has_gradients_(step.has_gradients()),
      histograms_(step.plan().histograms) {
  loss_error_ = error_of([&] { loss_ = step.loss(); });
  losses_error_ = error_of([&] { samples_.losses = step.losses(); });
  if (!losses_error_.empty()) samples_.losses = Tensor();
  if (!has_gradients_) return;
  StepNeeds all;
  for (const StepNeeds& one : needs) {
    all.gradients = all.gradients | one.gradients;
    all.histograms.insert(all.histograms.end(), one.histograms.begin(), one.histograms.end());
  }
  gradients_.batch_size = step.gradients().batch_size;
  gradients_.total = numbers_of(step.gradients().total, all);
  for (const ParameterGradients& parameter : step.gradients().parameters) {
    gradients_.parameters.push_back(numbers_of(parameter, all));
  }
}

void FetchedStep::add_to(Transfer& transfer) {
  transfer.add(loss_);
  transfer.add(samples_.losses);
  // Sample numbers are below 2^53, so that what is told of them stays exact as doubles.
  transfer.add(samples_.ids);
  transfer.add(samples_.labels);
  transfer.add(samples_.predictions);
  const auto add = [&](ParameterGradients& numbers) {
    for_each_number([&](Need, Tensor ParameterGradients::*field) { transfer.add(numbers.*field); });
    transfer.add(numbers.histograms);
  };
  add(gradients_.total);
  for (ParameterGradients& parameter : gradients_.parameters) add(parameter);
}

const Tensor& FetchedStep::losses() const {
  TORCH_CHECK(losses_error_.empty(), losses_error_);
  return samples_.losses;
}

const Tensor& FetchedStep::loss() const {
  TORCH_CHECK(loss_error_.empty(), loss_error_);
  return loss_;
}

const Gradients& FetchedStep::gradients() const {
  TORCH_CHECK(has_gradients_,
              "step view: the individual gradients were not computed; name them in the needs");
  return gradients_;
}

const std::vector<Tensor>& FetchedStep::initial_parameters() const { refuse("parameters"); }
const Curvature& FetchedStep::curvature(const CurvatureBatch&) const { refuse("curvature"); }
const Eigenpairs& FetchedStep::spectrum(const SpectrumNeed&) const { refuse("a spectrum"); }
const Vivit& FetchedStep::vivit(const VivitNeed&) const { refuse("the GGN's spectrum"); }
const std::vector<Activation>& FetchedStep::activations() const { refuse("activations"); }
Tensor FetchedStep::joint_histogram(const JointBins&) const { refuse("a joint histogram"); }

Tensor FetchedStep::histogram(const Bins& bins) const {
  return histogram_by_group(*this, histograms_, bins);
}

}  // namespace flightdeck
