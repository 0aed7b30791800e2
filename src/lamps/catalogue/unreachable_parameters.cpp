// SPDX-License-Identifier: MIT
// This lamp is exact: it reads the graph.
#include "lamps/fields.h"
#include "lamps/recent.h"

namespace flightdeck::lamps {

Lamp unreachable_parameters() {
  Lamp lamp;
  lamp.name = "unreachable_parameters";
  lamp.summary = "The loss does not depend on some parameters";
  lamp.severity = Severity::kWarning;
  lamp.reads = {"trained"};
  lamp.waits_for = 1;
  lamp.false_alarms = 0.005;
  lamp.is_exact = true;
  light_above_by_group(
      lamp,
      {"trained", "unreachable", {0}},
      1,
      "the loss does not depend on",
      [](Finding& finding, double value) {
        finding.symptom = "The loss does not depend on some parameters";
        finding.evidence = "From the loss no path leads to " + short_text(value) + " parameters";
        finding.cause =
            "a detached branch (detach, no_grad, a copy of the values), or a layer that is not "
            "used";
        finding.advice =
            "Look for detach(), no_grad and values taken out of the graph, and remove layers that "
            "are not used";
      });
  return lamp;
}

}  // namespace flightdeck::lamps
