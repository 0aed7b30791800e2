// SPDX-License-Identifier: MIT
#include "lamps/layers.h"

namespace flightdeck::lamps {

Lamp saturated_layers() {
  Lamp lamp;
  lamp.name = "saturated_layers";
  lamp.summary = "More than half of a layer's sigmoid or tanh outputs are at their bounds";
  lamp.severity = Severity::kWarning;
  lamp.reads = {"saturated_units"};
  lamp.waits_for = 3;
  lamp.false_alarms = 0.005;
  light_by_shares_above(
      lamp, 0.5, "saturated_units", "of the outputs are at their bounds", [](Finding& finding) {
        finding.symptom = "Most outputs of a layer are saturated";
        finding.cause = "weights or inputs that are too large: almost no gradient passes there";
        finding.advice =
            "Normalise the inputs, begin with smaller weights, or lower the learning rate";
      });
  return lamp;
}

}  // namespace flightdeck::lamps
