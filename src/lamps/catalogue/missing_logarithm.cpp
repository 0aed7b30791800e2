// SPDX-License-Identifier: MIT
// This lamp is exact: it reads the graph.
#include "lamps/fields.h"
#include "lamps/recent.h"

namespace flightdeck::lamps {

Lamp missing_logarithm() {
  Lamp lamp;
  lamp.name = "missing_logarithm";
  lamp.summary = "The loss is linear in a softmax: its logarithm is missing";
  lamp.severity = Severity::kWarning;
  lamp.reads = {"wiring"};
  lamp.waits_for = 1;
  lamp.false_alarms = 0.005;
  lamp.is_exact = true;
  light_above(lamp, {"wiring", "head_no_log", {0}}, 1, [](Finding& finding, double) {
    finding.symptom = "The logarithm of the softmax is missing";
    finding.evidence = "The loss is linear in the output of a softmax";
    finding.cause = "probabilities that are handed to a loss which takes their logarithms";
    finding.advice =
        "Hand log_softmax to the negative log-likelihood, or the logits to the cross-entropy";
  });
  return lamp;
}

}  // namespace flightdeck::lamps
