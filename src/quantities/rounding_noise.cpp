// SPDX-License-Identifier: MIT
#include "quantities/rounding_noise.h"

#include <ATen/ATen.h>

#include "rows/rounding.h"

namespace flightdeck {

Tensor squared_means(const StepView& step) {
  return at::stack(step.gradients(&ParameterGradients::mean_dots)).mean(1).clamp_min_(0);
}

Tensor rounding_noise(const StepView& step, const Tensor& squared_means) {
  std::vector<double> squares;
  for (const ParameterGradients& parameter : step.gradients().parameters) {
    const double rounding = rounding_of_rows(parameter.epsilon);
    squares.push_back(rounding * rounding);
  }
  return at::tensor(squares, at::kDouble).to(squared_means.device()).mul_(squared_means);
}

}  // namespace flightdeck
