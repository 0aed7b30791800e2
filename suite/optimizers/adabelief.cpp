// SPDX-License-Identifier: MIT
#include "suite/optimizers/adabelief.h"

#include "suite/optimizers/hyperparameters.h"
#include "suite/sweep.h"

namespace flightdeck::suite {

void AdaBeliefOptions::update(Tensor& parameter,
                              const Tensor& gradient,
                              FormulaState& state) const {
  const Constant keep1{beta1}, fresh1{1.0 - beta1}, keep2{beta2}, fresh2{1.0 - beta2};
  const double correction2 = correction(beta2, state);
  const Constant rate{learning_rate / correction(beta1, state)};
  const Constant scale{1.0 / std::sqrt(correction2)}, least{epsilon};
  // The published formula adds epsilon at both places.
  sweep_decayed(
      [=](auto& x, const auto& g, auto& m, auto& s) {
        m = keep1 * m + fresh1 * g;
        const auto surprise = computed(g - m);
        s = keep2 * s + fresh2 * (surprise * surprise) + least;
        x = x - rate * m / (scale * root(s) + least);
      },
      weight_decay,
      parameter,
      gradient,
      state.tensors[0],
      state.tensors[1]);
}

namespace optimizers {
OptimizerEntry adabelief() {
  return entry_of<AdaBeliefOptions>("Adam scaled by how far gradients lie from their mean");
}
}  // namespace optimizers

}  // namespace flightdeck::suite
