// SPDX-License-Identifier: MIT
// CABS criterion: the batch size that fits learning rate and gradient noise.
#include <ATen/ATen.h>

#include "flightdeck/quantity.h"

namespace flightdeck::quantities {
namespace {

// sum_p rate_p tr(variance_p) / loss. The trace needs no entries: it is mean_n ||g_n||² - ||g||².
Value compute(const StepView& step) {
  const Tensor squares = at::stack(step.gradients(&ParameterGradients::norms)).to(at::kDouble);
  const Tensor dots = at::stack(step.gradients(&ParameterGradients::mean_dots)).to(at::kDouble);
  const Tensor traces = (squares.square().mean(1) - dots.mean(1)).clamp_min(0);  // [P]
  const Tensor rates = at::tensor(step.learning_rates(), at::kDouble).to(traces.device());
  return Value(step.group_sums((rates * traces).unbind(0)) / step.loss().to(at::kDouble));
}

}  // namespace

Quantity cabs(Settings&) {
  return Quantity("cabs")
      .summary("Batch size that CABS suggests: learning rate times noise over loss")
      .reference("C.3.2, equation C.6; with several learning rates each counts its own parameters")
      .needs(Need::kNorms | Need::kMeanDots)
      .cost(Cost::kFirstOrder)
      .has_groups(true)
      .compute(&compute);
}

}  // namespace flightdeck::quantities
