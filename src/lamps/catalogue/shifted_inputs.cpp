// SPDX-License-Identifier: MIT
#include <cmath>

#include "lamps/fields.h"
#include "lamps/recent.h"

namespace flightdeck::lamps {

Lamp shifted_inputs() {
  Lamp lamp;
  lamp.name = "shifted_inputs";
  lamp.summary = "The mean of the inputs is over four times their deviation";
  lamp.severity = Severity::kWarning;
  lamp.reads = {"inputs"};
  lamp.pictured = {{"inputs", "mean", {}}, {"inputs", "deviation", {}}};
  lamp.waits_for = 3;
  lamp.false_alarms = 0.01;
  lamp.is_exact = true;
  lamp.look = [](const LampView& view) -> std::vector<Finding> {
    const Recent mean = recent_field(view, "inputs", "mean", 3);
    const Recent deviation = recent_field(view, "inputs", "deviation", 3);
    if (mean.points.empty() || deviation.points.empty()) return {};
    const double shift = std::abs(mean.median()) / deviation.median();
    if (!(shift > 4)) return {};
    Finding finding;
    finding.step = mean.points.back().step;
    finding.quantity = "inputs";
    finding.symptom = "The inputs are shifted";
    finding.evidence = "The mean of the inputs, " + short_text(mean.median()) + ", is " +
                       short_text(shift) + " times their standard deviation" + mean.where();
    finding.cause = "inputs whose mean was not subtracted";
    finding.advice = "Subtract the mean of the inputs";
    return {finding};
  };
  return lamp;
}

}  // namespace flightdeck::lamps
