// SPDX-License-Identifier: MIT
// This lamp is exact: it compares parameters.
#include "lamps/fields.h"
#include "lamps/recent.h"

namespace flightdeck::lamps {

Lamp unchanged_parameters() {
  Lamp lamp;
  lamp.name = "unchanged_parameters";
  lamp.summary = "Steps leave parameters as they are, to the bit";
  lamp.severity = Severity::kWarning;
  lamp.reads = {"trained"};
  lamp.waits_for = 3;
  lamp.false_alarms = 0.005;
  light_above_by_group(
      lamp,
      {"trained", "unchanged", {0}},
      3,
      "the update left unchanged",
      [](Finding& finding, double value) {
        finding.symptom = "Some parameters do not change";
        finding.evidence = "The update left " + short_text(value) + " parameters as they were";
        finding.cause =
            "parameters that are not in the optimizer, without gradient, or with a rate of 0";
        finding.advice =
            "Hand them to the optimizer with a rate above 0, or freeze them on purpose";
      });
  return lamp;
}

}  // namespace flightdeck::lamps
