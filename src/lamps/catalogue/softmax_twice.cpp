// SPDX-License-Identifier: MIT
// This lamp is exact: it reads the graph.
#include "lamps/fields.h"
#include "lamps/recent.h"

namespace flightdeck::lamps {

Lamp softmax_twice() {
  Lamp lamp;
  lamp.name = "softmax_twice";
  lamp.summary = "A softmax stands before the softmax of the loss";
  lamp.severity = Severity::kWarning;
  lamp.reads = {"wiring"};
  lamp.waits_for = 1;
  lamp.false_alarms = 0.005;
  lamp.is_exact = true;
  light_above(lamp, {"wiring", "head_softmax", {0}}, 1, [](Finding& finding, double) {
    finding.symptom = "Softmax is applied twice";
    finding.evidence = "A softmax (or sigmoid) feeds the cross-entropy, which has one of its own";
    finding.cause = "a model that returns probabilities where the loss takes logits";
    finding.advice =
        "Remove the last softmax of the model, or take the negative logarithm of its outputs "
        "as the loss";
  });
  return lamp;
}

}  // namespace flightdeck::lamps
