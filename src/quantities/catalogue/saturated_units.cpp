// SPDX-License-Identifier: MIT
// Outputs of bounded nonlinearities at their bounds, where the slope is next to nothing.
#include <cmath>
#include <optional>

#include <ATen/ATen.h>

#include "flightdeck/quantity.h"

namespace flightdeck::quantities {
namespace {

// Returns how near to a bound counts as saturated; nothing for an op without two bounds. Hardtanh
// has no slope at its bounds; sigmoid and tanh, one hundredth of their range away, have 4 % of
// their largest.
std::optional<double> margin_of(const Activation& activation) {
  const double range = activation.high - activation.low;
  if (!std::isfinite(range)) return std::nullopt;
  return activation.reaches_bounds ? 0 : range / 100;
}

// Saturated ones and all of them, [1, 2] of each layer.
std::vector<Tensor> count_saturated(const StepView& step) {
  std::vector<Tensor> counts;
  for (const Activation& activation : step.activations()) {
    const std::optional<double> margin = margin_of(activation);
    if (!margin || activation.output.numel() == 0) continue;
    const Tensor& output = activation.output;
    const Tensor count = output.le(activation.low + *margin)
                             .logical_or_(output.ge(activation.high - *margin))
                             .sum()
                             .to(at::kDouble);
    const Tensor size = at::full_like(count, static_cast<double>(output.numel()));
    counts.push_back(at::stack({count, size}).unsqueeze(0));
  }
  return counts;
}

Value saturated_units_value(const StepView& step) {
  Tensor saturated, entries;
  std::vector<std::pair<std::string, Tensor>> layers;
  for (const Activation& activation : step.activations()) {
    const std::optional<double> margin = margin_of(activation);
    if (!margin || activation.output.numel() == 0) continue;
    const Tensor counts = step.shared()[layers.size()].sum(0);
    const Tensor count = counts[0], size = counts[1];
    layers.emplace_back(activation.layer, count / size);
    saturated = saturated.defined() ? saturated + count : count;
    entries = entries.defined() ? entries + size : size;
  }
  if (layers.empty()) return Value::none("no sigmoid, tanh or hardtanh in the graph");
  Value value(saturated / entries);
  for (const auto& [layer, fraction] : layers) value.with(layer, fraction);
  return value;
}

}  // namespace

Quantity saturated_units(Settings&) {
  StepNeeds needs;
  needs.activations = true;
  return Quantity("saturated_units")
      .summary(
          "Fraction of sigmoid, tanh and hardtanh outputs at their bounds; one field per layer")
      .reference("beyond the papers")
      .needs(needs)
      .make([] {
        Quantity::Functions functions;
        functions.share = &count_saturated;
        functions.compute = &saturated_units_value;
        return functions;
      });
}

}  // namespace flightdeck::quantities
