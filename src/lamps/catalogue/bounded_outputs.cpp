// SPDX-License-Identifier: MIT
// This lamp is exact: it reads the graph.
#include "lamps/fields.h"
#include "lamps/recent.h"

namespace flightdeck::lamps {

Lamp bounded_outputs() {
  Lamp lamp;
  lamp.name = "bounded_outputs";
  lamp.summary = "The outputs pass a relu, tanh or sigmoid before a loss that takes logits";
  lamp.severity = Severity::kWarning;
  lamp.reads = {"wiring"};
  lamp.waits_for = 1;
  lamp.false_alarms = 0.005;
  lamp.is_exact = true;
  light_above(lamp, {"wiring", "head_bounded", {0}}, 1, [](Finding& finding, double) {
    finding.symptom = "The outputs are bounded before the loss";
    finding.evidence = "A nonlinearity is the last thing before the cross-entropy";
    finding.cause = "an activation after the last layer";
    finding.advice = "Remove the activation after the last layer";
  });
  return lamp;
}

}  // namespace flightdeck::lamps
