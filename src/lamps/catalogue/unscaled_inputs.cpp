// SPDX-License-Identifier: MIT
#include "lamps/fields.h"
#include "lamps/recent.h"

namespace flightdeck::lamps {

Lamp unscaled_inputs() {
  Lamp lamp;
  lamp.name = "unscaled_inputs";
  lamp.summary = "Inputs are far from the scale of 1";
  lamp.severity = Severity::kWarning;
  lamp.reads = {"inputs"};
  lamp.waits_for = 3;
  lamp.false_alarms = 0.01;
  lamp.is_exact = true;
  constexpr double kLow = 0.02, kHigh = 8;
  light_by_median(
      lamp,
      {"inputs", "", {kLow, kHigh}},
      3,
      [](double value) { return value > kHigh || (value > 0 && value < kLow); },
      [](Finding& finding, double value) {
        finding.symptom = "The inputs are not scaled";
        finding.evidence = "The root mean square of the inputs is " + short_text(value);
        finding.cause = "inputs that were not normalised";
        finding.advice = "Subtract the mean of the inputs and divide by their standard deviation";
      });
  // Numbers of letters and words have no scale, and no deviation is recorded of them.
  lamp.look = [look = lamp.look](const LampView& view) {
    return count_of(view, "inputs", "deviation") > 0 ? look(view) : std::vector<Finding>();
  };
  return lamp;
}

}  // namespace flightdeck::lamps
