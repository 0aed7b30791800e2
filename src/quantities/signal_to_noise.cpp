// SPDX-License-Identifier: MIT
#include "quantities/signal_to_noise.h"

#include <ATen/ATen.h>

#include "rows/rounding.h"
#include "rows/sweeps.h"

namespace flightdeck {

SignalToNoise signal_to_noise(const StepView& step, double factor, double epsilon) {
  const auto N = static_cast<double>(step.batch_size());
  std::vector<Tensor> sums, errors;
  for (const ParameterGradients& parameter : step.gradients().parameters) {
    const auto ratio = [=](const auto& mean, const auto& variance) {
      return mean * mean / (variance * factor + epsilon);
    };
    const Tensor sum = sum_entries(parameter.mean, parameter.variance, ratio);
    const Tensor squares = sum_entries(
        parameter.mean, parameter.variance, [=](const auto& mean, const auto& variance) {
          const auto r = ratio(mean, variance);
          return r * r;
        });
    // A ratio r is off by r² factor noise + 2 r sqrt(r factor noise / N) at most, as rounding_error
    // has it of the variance; the sum of r^(3/2) is bounded by those of r and r².
    const double rounding = rounding_of_entries(parameter.epsilon);
    const double noise = rounding * rounding;
    errors.push_back(squares * (factor * (noise + kRoundingOfDoubles)) +
                     2 * (sum * squares * (factor * noise / N)).sqrt());
    sums.push_back(sum);
  }
  const Tensor total = step.group_sums(sums);
  return {total, step.group_sums(errors) / total};
}

}  // namespace flightdeck
