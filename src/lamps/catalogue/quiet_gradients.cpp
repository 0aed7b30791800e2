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
  lamp.false_alarms = 0.03;
  lamp.look = for_median(
      "norm_test",
      "",
      10,
      [](double value) { return value < 0.003; },
      [](Finding& finding, double value) {
        finding.symptom = "The batch is larger than it needs to be";
        finding.evidence = "norm_test is " + short_text(value);
        finding.cause = "batches that are too large";
        finding.advice = "Take smaller batches: as many steps cost less";
      });
  return lamp;
}

}  // namespace flightdeck::lamps
