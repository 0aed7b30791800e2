// SPDX-License-Identifier: MIT
// What a step on a device says in numbers: those per sample, parameter and bin. Quantities that
// read nothing else are computed from them on the CPU, once they are here: there a small
// operation costs a tenth of a launch, and nobody waits.
#pragma once

#include <vector>

#include "cockpit/emit.h"
#include "cockpit/step.h"

namespace flightdeck {

class FetchedStep final : public StepView {
 public:
  // Keeps nothing of the step but the numbers that `needs` ask for.
  FetchedStep(const StepContext& context, const Step& step, const std::vector<StepNeeds>& needs);

  // Everything below is valid after this transfer.
  void add_to(Transfer& transfer);

  int64_t step() const override { return step_; }
  int64_t batch_size() const override { return batch_size_; }
  double seconds() const override { return seconds_; }
  const Tensor& losses() const override;
  const Tensor& loss() const override;
  const Parameters& parameters() const override { return context_.parameters; }
  const std::vector<Tensor>& initial_parameters() const override;
  const Groups& groups() const override { return context_.groups; }
  std::vector<double> learning_rates() const override { return rates_.of(parameters()); }
  std::vector<double> told_learning_rates() const override { return rates_.distinct(); }
  Tensor sample_ids() const override { return samples_.ids; }
  Tensor labels() const override { return samples_.labels; }
  Tensor predictions() const override { return samples_.predictions; }
  const Gradients& gradients() const override;
  const Curvature& curvature(const CurvatureBatch& batch) const override;
  const Eigenpairs& spectrum(const SpectrumNeed& need) const override;
  const Vivit& vivit(const VivitNeed& need) const override;
  const std::vector<Activation>& activations() const override;
  Tensor histogram(const Bins& bins) const override;
  Tensor joint_histogram(const JointBins& bins) const override;

 private:
  const StepContext& context_;
  int64_t step_, batch_size_;
  double seconds_;
  LearningRates rates_;
  StepSamples samples_;
  Tensor loss_;
  std::string losses_error_, loss_error_;  // why they are not known
  bool has_gradients_;
  Gradients gradients_;
  std::vector<Bins> histograms_;
};

}  // namespace flightdeck
