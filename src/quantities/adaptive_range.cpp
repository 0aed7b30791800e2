// SPDX-License-Identifier: MIT
#include "quantities/adaptive_range.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <ATen/ATen.h>

namespace flightdeck {
namespace {

double largest_magnitude(const std::vector<Tensor>& tensors) {
  std::vector<Tensor> magnitudes;
  for (const Tensor& tensor : tensors) {
    magnitudes.push_back(
        at::linalg_vector_norm(tensor, std::numeric_limits<double>::infinity()).to(at::kDouble));
  }
  return at::stack(magnitudes).amax().item<double>();
}

}  // namespace

Bins AdaptiveRange::adapt(const Bins& bins, double largest) const {
  if (!std::isfinite(largest)) return bins;
  const double end = (1 + padding) * std::max(min_size / 2, largest);
  return {-end, end, bins.count};
}

double read_padding(Settings& settings, const std::string& prefix) {
  return settings.number(prefix + "padding", 0, "adapted ranges: room beyond the largest entry");
}

void check_range(const std::string& owner, const Bins& bins) {
  TORCH_CHECK_VALUE(std::isfinite(bins.low) && std::isfinite(bins.high) && bins.low < bins.high,
                    owner,
                    ": the range is from ",
                    bins.low,
                    " to ",
                    bins.high,
                    "; give finite ends, the lower one first");
}

double largest_gradient_entry(const StepView& step) {
  return largest_magnitude(step.gradients(&ParameterGradients::individual));
}

double largest_parameter_entry(const StepView& step) {
  std::vector<Tensor> tensors;
  for (const NamedParameter& parameter : step.parameters()) {
    tensors.push_back(parameter.tensor.detach());
  }
  return largest_magnitude(tensors);
}

}  // namespace flightdeck
