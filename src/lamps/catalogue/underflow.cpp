// SPDX-License-Identifier: MIT
#include "lamps/fields.h"
#include "lamps/recent.h"

namespace flightdeck::lamps {

Lamp underflow() {
  Lamp lamp;
  lamp.name = "underflow";
  lamp.summary = "A quarter of the gradients' entries is too small for their type";
  lamp.severity = Severity::kWarning;
  lamp.reads = {"finite"};
  lamp.waits_for = 10;
  lamp.false_alarms = 0.005;
  light_above_by_group(
      lamp, {"finite", "underflow", {0.25}}, 10, "", [](Finding& finding, double value) {
        finding.symptom = "Gradients underflow";
        finding.evidence =
            percent_text(value) +
            " of the entries of gradients are below the smallest normal number of their type";
        finding.cause = "half precision without a loss scale, or a loss scale that is too small";
        finding.advice = "Scale the loss (GradScaler), or take bfloat16";
      });
  return lamp;
}

}  // namespace flightdeck::lamps
