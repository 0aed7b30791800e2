// SPDX-License-Identifier: MIT
#include "lamps/layers.h"

namespace flightdeck::lamps {

Lamp dead_layers() {
  Lamp lamp;
  lamp.name = "dead_layers";
  lamp.summary = "Over 70 % of a layer's relu-like units are silent for the whole batch";
  lamp.severity = Severity::kWarning;
  lamp.reads = {"dead_units"};
  lamp.waits_for = 3;
  lamp.false_alarms = 0.026;
  light_by_shares_above(
      lamp,
      0.7,
      "dead_units",
      "of the units are zero, or next to it, for every sample of the batch",
      [](Finding& finding) {
        finding.symptom = "Most units of a layer are dead";
        finding.cause = "steps that were too long, or inputs and biases far below zero";
        finding.advice =
            "Lower the learning rate or warm it up, check that the inputs are normalised, or use a "
            "leaky relu";
      });
  return lamp;
}

}  // namespace flightdeck::lamps
