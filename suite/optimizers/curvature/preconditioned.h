// SPDX-License-Identifier: MIT
// Gradient descent in the metric of a curvature matrix of each parameter:
// x <- x - rate (C + (damping + l2) I)^-1 (g + weight_decay x), where l2 is the strength of the
// weight decay and of a penalty in the objective. C is measured anew every `interval` steps.
#pragma once

#include "flightdeck/curvature.h"
#include "suite/curvature_optimizer.h"
#include "suite/optimizers/hyperparameters.h"

namespace flightdeck::suite {

class PreconditionedOptions : public CurvatureFormulaOptions {
 public:
  double interval = 1;
  double mc_samples = 1;  ///< of formulas that sample

  std::vector<Field> fields() override {
    std::vector<Field> all = {
        searched(rate_field(learning_rate), one_of({1e-4, 1e-3, 1e-2, 1e-1, 1.0})),
        searched(positive("damping", "added to the curvature", damping),
                 one_of({1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0})),
        whole(positive("interval", "steps that a measured curvature serves", interval)),
        weight_decay_field(weight_decay)};
    if (is_sampled()) {
      all.push_back(whole(positive("mc_samples", "would-be gradients per sample", mc_samples)));
    }
    return all;
  }
  std::vector<std::vector<Tensor>> measure(const Observation& observation) const override {
    flightdeck::CurvatureOptions asked;
    asked.mc_samples = static_cast<int64_t>(mc_samples);
    asked.seed = observation.seed;
    const Curvature answers = curvature(observation.batch(), need(), asked);
    std::vector<std::vector<Tensor>> all;
    for (size_t i = 0; i < answers.parameters.size(); ++i) {
      const bool is_unused = answers.coverage.parameters[i].level == CoverageLevel::kUnused;
      all.push_back(is_unused ? std::vector<Tensor>()
                              : kept(answers.parameters[i], observation.parameters[i]));
    }
    return all;
  }
  int64_t measured_every() const override { return static_cast<int64_t>(interval); }

 protected:
  virtual bool is_sampled() const { return false; }
  virtual CurvatureNeed need() const = 0;
  /// Returns the state of a parameter that the losses depend on.
  virtual std::vector<Tensor> kept(const ParameterCurvature& answers,
                                   const NamedParameter& parameter) const = 0;
};

}  // namespace flightdeck::suite
