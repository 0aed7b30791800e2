// SPDX-License-Identifier: MIT
#include "lamps/fields.h"
#include "lamps/recent.h"

namespace flightdeck::lamps {

Lamp uneven_activations() {
  Lamp lamp;
  lamp.name = "uneven_activations";
  lamp.summary = "Activations of one layer are a hundred times those of another";
  lamp.severity = Severity::kWarning;
  lamp.reads = {"activation_scale"};
  lamp.waits_for = 3;
  lamp.false_alarms = 0.005;
  light_above(
      lamp, {"activation_scale", "rms_ratio", {100}}, 3, [](Finding& finding, double value) {
        finding.symptom = "The layers have very different scales";
        finding.evidence = "The largest root mean square of a layer is " + short_text(value) +
                           " times the smallest";
        finding.cause = "weights that begin too large or too small";
        finding.advice = "Begin with weights of variance 2 / inputs, or add normalisation";
      });
  return lamp;
}

}  // namespace flightdeck::lamps
