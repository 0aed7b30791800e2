// SPDX-License-Identifier: MIT
#include "lamps/fields.h"
#include "lamps/recent.h"

namespace flightdeck::lamps {

Lamp noisy_gradients() {
  Lamp lamp;
  lamp.name = "noisy_gradients";
  lamp.summary = "The gradient is mostly noise: norm_test stays above 4";
  lamp.severity = Severity::kWarning;
  lamp.reads = {"norm_test"};
  lamp.waits_for = 20;
  lamp.false_alarms = 0.005;
  light_above(lamp, {"norm_test", "", {4}}, 20, [](Finding& finding, double value) {
    finding.symptom = "The gradient is mostly noise";
    finding.evidence = "norm_test is " + short_text(value);
    finding.cause = "batches that are too small";
    finding.advice = "Take larger batches, or accumulate gradients";
  });
  return lamp;
}

}  // namespace flightdeck::lamps
