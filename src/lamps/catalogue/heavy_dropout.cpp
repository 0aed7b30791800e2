// SPDX-License-Identifier: MIT
// This lamp is exact: it reads the graph.
#include "lamps/fields.h"
#include "lamps/recent.h"

namespace flightdeck::lamps {

Lamp heavy_dropout() {
  Lamp lamp;
  lamp.name = "heavy_dropout";
  lamp.summary = "Dropout leaves out more than two thirds of the units";
  lamp.severity = Severity::kWarning;
  lamp.reads = {"wiring"};
  lamp.waits_for = 3;
  lamp.false_alarms = 0.005;
  lamp.is_exact = true;
  light_above(lamp, {"wiring", "dropout_share", {0.667}}, 3, [](Finding& finding, double value) {
    finding.symptom = "Dropout leaves little of a layer";
    finding.evidence = "Dropout sets " + percent_text(value) + " of a layer to zero";
    finding.cause =
        "a dropout rate that is too high, or the share to keep given as the share to drop";
    finding.factor = 0.2 / value;
    finding.advice = "Lower the dropout rate from " + short_text(value) + " to about 0.2";
  });
  return lamp;
}

}  // namespace flightdeck::lamps
