// SPDX-License-Identifier: MIT
// This lamp is exact: it compares samples bit by bit.
#include "lamps/fields.h"
#include "lamps/recent.h"

namespace flightdeck::lamps {

Lamp conflicting_labels() {
  Lamp lamp;
  lamp.name = "conflicting_labels";
  lamp.summary = "Equal samples of a batch have different labels";
  lamp.severity = Severity::kWarning;
  lamp.reads = {"inputs"};
  lamp.waits_for = 3;
  lamp.false_alarms = 0.005;
  lamp.is_exact = true;
  light_above(
      lamp, {"inputs", "conflicting_labels", {0.02}}, 3, [](Finding& finding, double value) {
        finding.symptom = "Equal inputs have different labels";
        finding.evidence =
            percent_text(value) +
            " of the samples of a batch are another one to the bit, with another label";
        finding.cause =
            "labels that do not belong to the inputs, or inputs that lost what tells them apart";
        finding.advice = "Look at samples that come twice, and at what enters the model";
      });
  return lamp;
}

}  // namespace flightdeck::lamps
