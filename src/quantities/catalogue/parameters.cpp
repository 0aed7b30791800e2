// SPDX-License-Identifier: MIT
// The parameters' values, summed up: norm, mean, standard deviation and largest magnitude.
#include <ATen/ATen.h>

#include "flightdeck/quantity.h"

namespace flightdeck::quantities {
namespace {

Tensor group_maxima(const StepView& step, const std::vector<Tensor>& per_parameter) {
  std::vector<Tensor> maxima;
  for (const auto& members : step.groups().members) {
    std::vector<Tensor> of_group;
    for (size_t p : members) of_group.push_back(per_parameter[p]);
    maxima.push_back(at::stack(of_group).amax());
  }
  return at::stack(maxima).to(at::kDouble);
}

Value parameters_value(const StepView& step) {
  std::vector<Tensor> sums, squares, magnitudes;
  for (const NamedParameter& parameter : step.parameters()) {
    const Tensor values = parameter.tensor.detach().flatten();
    sums.push_back(values.sum(at::kDouble));
    squares.push_back(values.norm(2, at::kDouble).square());
    magnitudes.push_back(values.abs().amax());
  }
  const Tensor sizes = step.group_sizes();
  const Tensor square = step.group_sums(squares);
  const Tensor mean = step.group_sums(sums) / sizes;
  Value value(square.sqrt());
  value.with("mean", mean);
  value.with("deviation", (square / sizes - mean.square()).clamp_min(0).sqrt());
  value.with("abs_max", group_maxima(step, magnitudes));
  return value;
}

}  // namespace

Quantity parameters(Settings&) {
  return Quantity("parameters")
      .summary("Norm of the parameters; mean, deviation and largest magnitude as fields")
      .reference("theta_k; the reference implementation stores every entry")
      .has_groups(true)
      .compute(&parameters_value);
}

}  // namespace flightdeck::quantities
