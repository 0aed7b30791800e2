// SPDX-License-Identifier: MIT
// Units of relu-like layers that are zero for every sample, or as good as: no gradient reaches what
// is below them.
#include <cmath>

#include <ATen/ATen.h>

#include "flightdeck/quantity.h"

namespace flightdeck::quantities {
namespace {

// An output above this share of the lowest one is next to zero: gelu's inputs are below -3 then,
// silu's below -7, and the slope is a hundredth.
constexpr double kNextToZero = 40;

// True of relu and relu6.
bool is_relu_like(const Activation& activation) {
  return activation.reaches_bounds && activation.low == 0;
}

// True of gelu and silu, which have no slope left where they are next to zero from below.
bool is_smooth_relu(const Activation& activation) {
  return !activation.reaches_bounds && std::isfinite(activation.low) &&
         !std::isfinite(activation.high);
}

bool may_die(const Activation& activation) {
  const bool has_units = activation.output.numel() > 0;
  return has_units && (is_relu_like(activation) || is_smooth_relu(activation));
}

// Returns what is zero of outputs that say nothing, and above zero of all others.
Tensor voices_of(const Activation& activation) {
  const Tensor& output = activation.output;  // [N, units, ...]
  if (is_relu_like(activation)) return output;
  return output.gt(0).logical_or_(output.lt(activation.low / kNextToZero)).to(output.scalar_type());
}

// Returns the loudest of each unit: [1, units] each.
std::vector<Tensor> loudest_voices(const StepView& step) {
  std::vector<Tensor> loudest;
  for (const Activation& activation : step.activations()) {
    if (!may_die(activation)) continue;
    const Tensor voices = voices_of(activation);
    const Tensor flat = voices.reshape({voices.size(0), voices.size(1), -1});
    loudest.push_back(flat.amax(at::IntArrayRef({0, 2})).unsqueeze(0));
  }
  return loudest;
}

Value dead_units_value(const StepView& step) {
  Tensor dead;
  double units = 0;
  std::vector<std::pair<std::string, Tensor>> layers;
  for (const Activation& activation : step.activations()) {
    if (!may_die(activation)) continue;
    const Tensor largest = step.shared()[layers.size()].amax(0);
    const Tensor count = largest.eq(0).sum().to(at::kDouble);
    const auto size = static_cast<double>(largest.numel());
    layers.emplace_back(activation.layer, count / size);
    dead = dead.defined() ? dead + count : count;
    units += size;
  }
  if (layers.empty()) return Value::none("no relu, relu6, gelu or silu in the graph");
  Value value(dead / units);
  for (const auto& [layer, fraction] : layers) value.with(layer, fraction);
  return value;
}

}  // namespace

Quantity dead_units(Settings&) {
  StepNeeds needs;
  needs.activations = true;
  return Quantity("dead_units")
      .summary(
          "Fraction of relu-like units that are silent for the whole batch; one field per layer")
      .reference("beyond the papers")
      .needs(needs)
      .make([] {
        Quantity::Functions functions;
        functions.share = &loudest_voices;
        functions.compute = &dead_units_value;
        return functions;
      });
}

}  // namespace flightdeck::quantities
