// SPDX-License-Identifier: MIT
#include "lamps/fields.h"
#include "lamps/recent.h"

namespace flightdeck::lamps {

Lamp quiet_gradients() {
  Lamp lamp;
  lamp.name = "quiet_gradients";
  lamp.summary = "All samples say the same: norm_test stays below 0.003";
  lamp.severity = Severity::kAdvice;
  lamp.reads = {"norm_test"};
  lamp.waits_for = 10;
  lamp.false_alarms = 0.008;
  light_below(lamp, {"norm_test", "", {0.003}}, 10, [](Finding& finding, double value) {
    finding.symptom = "The batch is larger than it needs to be";
    finding.evidence = "norm_test is " + short_text(value);
    finding.cause = "batches that are too large";
    finding.advice = "Take smaller batches: as many steps cost less";
  });
  return lamp;
}

}  // namespace flightdeck::lamps
