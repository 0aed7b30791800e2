// SPDX-License-Identifier: MIT
// This lamp is exact: it reads the graph.
#include "lamps/fields.h"
#include "lamps/recent.h"

namespace flightdeck::lamps {

Lamp linear_pairs() {
  Lamp lamp;
  lamp.name = "linear_pairs";
  lamp.summary = "Layers with weights follow one another with nothing between";
  lamp.severity = Severity::kWarning;
  lamp.reads = {"wiring"};
  lamp.waits_for = 1;
  lamp.false_alarms = 0.005;
  lamp.is_exact = true;
  light_above(lamp, {"wiring", "linear_pairs", {0}}, 1, [](Finding& finding, double value) {
    finding.symptom = "Linear layers follow one another";
    finding.evidence = short_text(value) +
                       " times two layers with weights follow one another without a nonlinearity";
    finding.cause = "an activation that was left out: both layers together are one linear map";
    finding.advice = "Put an activation between them";
  });
  return lamp;
}

}  // namespace flightdeck::lamps
