// SPDX-License-Identifier: MIT
// A step as all ranks together have seen it: what quantities see in place of the rank's own.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cockpit/step.h"

namespace flightdeck {

// Holds what the ranks have exchanged.
struct UnionData {
  std::vector<int64_t> sizes;  // samples of each rank
  int64_t batch_size = 0;
  Tensor loss;
  std::string loss_error;  // why there is none
  StepSamples samples;     // with the losses where all ranks know theirs
  std::string losses_error;
  std::optional<Gradients> gradients;
  std::vector<std::pair<CurvatureBatch, Curvature>> curvatures;
  // Holds by tracked quantity what its ranks share, or nothing if they do not fit together.
  std::map<size_t, std::vector<Tensor>> shared;
  std::optional<ChordEnd> chord_start, chord_end;
  std::vector<Reading> by_rank;
};

class UnionStep final : public StepView {
 public:
  // `own` is null on a rank that sat out; it has to outlive this.
  UnionStep(
      const StepContext& context, Plan plan, const Step* own, LearningRates rates, UnionData data);

  const Plan& plan() const { return plan_; }
  const UnionData& data() const { return data_; }
  bool has_gradients() const { return data_.gradients.has_value(); }

  // ---- StepView ----
  int64_t step() const override { return plan_.step; }
  int64_t batch_size() const override { return data_.batch_size; }
  double seconds() const override { return seconds_since(context_.start); }
  const Tensor& losses() const override;
  const Tensor& loss() const override;
  const Parameters& parameters() const override { return context_.parameters; }
  const std::vector<Tensor>& initial_parameters() const override {
    return context_.initial_parameters;
  }
  const Groups& groups() const override { return context_.groups; }
  std::vector<double> learning_rates() const override { return rates_.of(parameters()); }
  std::vector<double> told_learning_rates() const override { return rates_.distinct(); }
  Tensor sample_ids() const override { return data_.samples.ids; }
  Tensor labels() const override { return data_.samples.labels; }
  Tensor predictions() const override { return data_.samples.predictions; }
  Tensor inputs() const override { return own_ ? own_->inputs() : Tensor(); }
  std::optional<Optimized> optimized() const override { return rates_.optimized(parameters()); }
  std::vector<std::pair<std::string, double>> phases() const override;
  StepClock clock() const override;
  const std::vector<UpdateFormula>& update_formulas() const override {
    return own_ ? own_->update_formulas() : StepView::update_formulas();
  }
  const Gradients& gradients() const override;
  const Curvature& curvature(const CurvatureBatch& batch) const override;
  const Eigenpairs& spectrum(const SpectrumNeed& need) const override {
    return own().spectrum(need);  // made of products over all ranks
  }
  const Vivit& vivit(const VivitNeed& need) const override { return own().vivit(need); }
  const std::vector<Activation>& activations() const override { return own().activations(); }
  Tensor histogram(const Bins& bins) const override;
  Tensor joint_histogram(const JointBins& bins) const override;

 private:
  const Step& own() const;

  const StepContext& context_;
  Plan plan_;
  const Step* own_;
  LearningRates rates_;
  UnionData data_;
};

}  // namespace flightdeck
