// SPDX-License-Identifier: MIT
#include "cockpit/union_step.h"

#include "cockpit/step_histograms.h"

namespace flightdeck {

UnionStep::UnionStep(
    const StepContext& context, Plan plan, const Step* own, LearningRates rates, UnionData data)
    : context_(context),
      plan_(std::move(plan)),
      own_(own),
      rates_(std::move(rates)),
      data_(std::move(data)) {}

const Step& UnionStep::own() const {
  TORCH_CHECK(own_ != nullptr,
              "step view: this rank has no samples at step ",
              step(),
              ", and what is read is not exchanged between ranks");
  return *own_;
}

const Tensor& UnionStep::losses() const {
  TORCH_CHECK(data_.losses_error.empty(), data_.losses_error);
  return data_.samples.losses;
}

const Tensor& UnionStep::loss() const {
  TORCH_CHECK(data_.loss_error.empty(), data_.loss_error);
  return data_.loss;
}

std::vector<std::pair<std::string, double>> UnionStep::phases() const {
  return own_ ? own_->phases() : std::vector<std::pair<std::string, double>>();
}

StepClock UnionStep::clock() const {
  if (own_) return own_->clock();
  StepClock clock;  // no backward pass was waited for
  clock.begin = seconds();
  clock.cockpit = context_.cockpit_seconds;
  return clock;
}

const Gradients& UnionStep::gradients() const {
  TORCH_CHECK(has_gradients(),
              "step view: the individual gradients were not computed; name them in the needs");
  return *data_.gradients;
}

const Curvature& UnionStep::curvature(const CurvatureBatch& batch) const {
  for (const auto& [computed, curvature] : data_.curvatures) {
    if (computed == batch) return curvature;
  }
  TORCH_CHECK(false, "step view: no curvature of that kind was computed; name it in the needs");
}

Tensor UnionStep::histogram(const Bins& bins) const {
  return histogram_by_group(*this, plan_.histograms, bins);
}

Tensor UnionStep::joint_histogram(const JointBins& bins) const {
  return joint_histogram_by_group(*this, plan_.joint_histograms, bins);
}

}  // namespace flightdeck
