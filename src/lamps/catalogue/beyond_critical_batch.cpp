// SPDX-License-Identifier: MIT
#include "lamps/fields.h"
#include "lamps/recent.h"

namespace flightdeck::lamps {

Lamp beyond_critical_batch() {
  Lamp lamp;
  lamp.name = "beyond_critical_batch";
  lamp.summary = "The batch is over four times the size beyond which larger ones stop to pay";
  lamp.severity = Severity::kAdvice;
  lamp.reads = {"critical_batch"};
  lamp.waits_for = 20;
  lamp.is_evidence = false;
  light_above(lamp, {"critical_batch", "ratio", {4}}, 20, [](Finding& finding, double value) {
    finding.symptom = "The batch is larger than pays";
    finding.evidence = "The batch is " + short_text(value) + " times the critical size";
    finding.cause = "gradients that have little noise beside what they agree on";
    finding.factor = 1 / value;
    finding.advice = "Divide the batch size by about " + short_text(value) +
                     ": as many steps then cost less and learn nearly as much";
  });
  return lamp;
}

}  // namespace flightdeck::lamps
