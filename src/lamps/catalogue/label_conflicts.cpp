// SPDX-License-Identifier: MIT
#include "lamps/fields.h"
#include "lamps/recent.h"

namespace flightdeck::lamps {

Lamp label_conflicts() {
  Lamp lamp;
  lamp.name = "label_conflicts";
  lamp.summary = "The gradients of many samples point against their class";
  lamp.severity = Severity::kWarning;
  lamp.reads = {"label_conflicts"};
  lamp.waits_for = 5;
  lamp.false_alarms = 0.005;
  light_above(lamp, {"label_conflicts", "", {0.3}}, 5, [](Finding& finding, double value) {
    finding.symptom = "Labels contradict one another";
    finding.evidence = "The gradients of " + percent_text(value) +
                       " of the samples point against the mean of their class";
    finding.cause = "labels that do not belong to the inputs";
    finding.advice = "Look at these samples and their labels";
  });
  return lamp;
}

}  // namespace flightdeck::lamps
