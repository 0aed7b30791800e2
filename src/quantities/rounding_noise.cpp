// SPDX-License-Identifier: MIT
#include "quantities/rounding_noise.h"

#include <ATen/ATen.h>

#include "quantities/group_numbers.h"
#include "rows/rounding.h"

namespace flightdeck {

Tensor squared_means(const StepView& step) {
  const std::vector<Tensor> dots = step.gradients(&ParameterGradients::mean_dots);
  if (!dots[0].is_cpu()) return at::stack(dots).mean(1).clamp_min_(0);
  return for_each_group(static_cast<int64_t>(dots.size()),
                        [&](int64_t p) { return at_least_zero(GroupNumbers(dots[p], 1).mean(0)); });
}

Tensor rounding_noise(const StepView& step, const Tensor& squared_means) {
  std::vector<double> squares;
  for (const ParameterGradients& parameter : step.gradients().parameters) {
    const double rounding = rounding_of_rows(parameter.epsilon);
    squares.push_back(rounding * rounding);
  }
  if (squared_means.is_cpu()) {
    const GroupNumbers means(squared_means);
    return for_each_group(means.groups(), [&](int64_t p) { return squares[p] * means[p]; });
  }
  return at::tensor(squares, at::kDouble).to(squared_means.device()).mul_(squared_means);
}

}  // namespace flightdeck
