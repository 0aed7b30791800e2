// SPDX-License-Identifier: MIT
#include "quantities/signal_to_noise.h"

#include <cmath>

#include "rows/rounding.h"
#include "rows/sweeps.h"

namespace flightdeck {

SignalToNoise signal_to_noise(const StepView& step, double factor, double epsilon) {
  const auto N = static_cast<double>(step.batch_size());
  std::vector<Tensor> sums, errors;
  for (const ParameterGradients& parameter : step.gradients().parameters) {
    sums.push_back(sum_entries(
        parameter.mean, parameter.variance, [=](const auto& mean, const auto& variance) {
          return mean * mean / (variance * factor + epsilon);
        }));
    // The error of N variance_d, as rounding_error has it, to first order.
    const double noise = parameter.rounding * parameter.rounding;
    errors.push_back(sum_entries(
        parameter.mean, parameter.variance, [=](const auto& mean, const auto& variance) {
          using std::sqrt;
          const auto square = mean * mean;
          const auto divisor = variance * factor + epsilon;
          const auto error =
              square * (noise + kRoundingOfDoubles) + sqrt(square * variance * (noise / N)) * 2.0;
          return square / divisor * (error * factor / divisor);
        }));
  }
  const Tensor total = step.group_sums(sums);
  return {total, step.group_sums(errors) / total};
}

}  // namespace flightdeck
