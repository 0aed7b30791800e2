// SPDX-License-Identifier: MIT
// Units of relu-like layers that are zero for every sample: no gradient reaches what is below them.
#include <ATen/ATen.h>

#include "flightdeck/quantity.h"

namespace flightdeck::quantities {
namespace {

// True of relu and relu6.
bool is_relu_like(const Activation& activation) {
  return activation.reaches_bounds && activation.low == 0;
}

// Outputs are never negative, so that the largest one of each unit tells: [1, units] each.
std::vector<Tensor> largest_outputs(const StepView& step) {
  std::vector<Tensor> largest;
  for (const Activation& activation : step.activations()) {
    if (!is_relu_like(activation) || activation.output.numel() == 0) continue;
    const Tensor& output = activation.output;  // [N, units, ...]
    const Tensor flat = output.reshape({output.size(0), output.size(1), -1});
    largest.push_back(flat.amax(at::IntArrayRef({0, 2})).unsqueeze(0));
  }
  return largest;
}

Value dead_units_value(const StepView& step) {
  Tensor dead;
  double units = 0;
  std::vector<std::pair<std::string, Tensor>> layers;
  for (const Activation& activation : step.activations()) {
    if (!is_relu_like(activation) || activation.output.numel() == 0) continue;
    const Tensor largest = step.shared()[layers.size()].amax(0);
    const Tensor count = largest.eq(0).sum().to(at::kDouble);
    const auto size = static_cast<double>(largest.numel());
    layers.emplace_back(activation.layer, count / size);
    dead = dead.defined() ? dead + count : count;
    units += size;
  }
  if (layers.empty()) return Value::none("no relu or relu6 in the graph");
  Value value(dead / units);
  for (const auto& [layer, fraction] : layers) value.with(layer, fraction);
  return value;
}

}  // namespace

Quantity dead_units(Settings&) {
  StepNeeds needs;
  needs.activations = true;
  return Quantity("dead_units")
      .summary("Fraction of relu units that are zero for the whole batch; one field per layer")
      .reference("beyond the papers")
      .needs(needs)
      .make([] {
        Quantity::Functions functions;
        functions.share = &largest_outputs;
        functions.compute = &dead_units_value;
        return functions;
      });
}

}  // namespace flightdeck::quantities
