// SPDX-License-Identifier: MIT
#include "lamps/fields.h"
#include "lamps/recent.h"

namespace flightdeck::lamps {

Lamp ignored_targets() {
  Lamp lamp;
  lamp.name = "ignored_targets";
  lamp.summary = "Most targets are ignored by the loss";
  lamp.severity = Severity::kWarning;
  lamp.reads = {"logits"};
  lamp.waits_for = 3;
  lamp.false_alarms = 0.01;
  lamp.is_exact = true;
  light_above(lamp, {"logits", "ignored", {0.5}}, 3, [](Finding& finding, double value) {
    finding.symptom = "Most targets are ignored";
    finding.evidence = percent_text(value) + " of the targets are ignored";
    finding.cause = "masks or padding that cover the targets";
    finding.advice = "Look at the targets as they enter the loss, and pad less";
  });
  return lamp;
}

}  // namespace flightdeck::lamps
