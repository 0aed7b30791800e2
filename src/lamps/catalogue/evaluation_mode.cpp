// SPDX-License-Identifier: MIT
// This lamp is exact: it reads the graph.
#include "lamps/fields.h"
#include "lamps/recent.h"

namespace flightdeck::lamps {

Lamp evaluation_mode() {
  Lamp lamp;
  lamp.name = "evaluation_mode";
  lamp.summary = "Batch norm is in evaluation mode while the model trains";
  lamp.severity = Severity::kWarning;
  lamp.reads = {"wiring"};
  lamp.waits_for = 1;
  lamp.false_alarms = 0.005;
  lamp.is_exact = true;
  light_above(
      lamp, {"wiring", "batch_norms_evaluating", {0}}, 1, [](Finding& finding, double value) {
        finding.symptom = "Batch norm does not see the batch";
        finding.evidence =
            short_text(value) + " batch norms use their running averages in a training step";
        finding.cause = "the model was left in evaluation mode";
        finding.advice = "Call train() on the model before training, and after every evaluation";
      });
  return lamp;
}

}  // namespace flightdeck::lamps
