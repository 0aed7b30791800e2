// SPDX-License-Identifier: MIT
// Finds groups whose gradient is nothing beside that of the model, step after step.
#include <algorithm>

#include "lamps/recent.h"

namespace flightdeck::lamps {
namespace {

double largest_of(const Recent& series) {
  double value = 0;
  for (const NumberPoint& point : series.points) value = std::max(value, point.value);
  return value;
}

}  // namespace

Lamp silent_layers() {
  Lamp lamp;
  lamp.name = "silent_layers";
  lamp.summary = "The gradient of a group is zero beside that of the model";
  lamp.severity = Severity::kWarning;
  lamp.reads = {"grad_norm"};
  lamp.pictured = {{"grad_norm", "", {}}};
  lamp.waits_for = 3;
  lamp.false_alarms = 0.005;
  lamp.look = [](const LampView& view) -> std::vector<Finding> {
    const Recent model = recent_of_model(view, "grad_norm", 3);
    if (model.points.empty() || !(model.median() > 0)) return {};
    std::vector<std::string> silent;
    for (const Recent& group : recent(view, "grad_norm", 3)) {
      if (group.series.group.empty() || !group.series.field.empty()) continue;
      // A gradient this small has no effect on the length of the whole in float32.
      if (largest_of(group) <= 1e-8 * model.median()) silent.push_back(group.series.group);
    }
    if (silent.empty()) return {};
    Finding finding;
    finding.step = model.points.back().step;
    finding.quantity = "grad_norm";
    finding.layers = silent;
    finding.symptom = "Some layers receive no gradient";
    finding.evidence = "The gradient of " + listed(silent) +
                       " is nothing beside that of the model" + model.where();
    finding.cause =
        "units behind them that are dead or saturated, a detached branch, or an output that the "
        "loss does not use";
    finding.advice = "Track dead_units and saturated_units, and look for detach() and no_grad";
    return {finding};
  };
  return lamp;
}

}  // namespace flightdeck::lamps
