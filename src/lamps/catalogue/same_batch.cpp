// SPDX-License-Identifier: MIT
// This lamp is exact: it compares samples.
#include "lamps/fields.h"
#include "lamps/recent.h"

namespace flightdeck::lamps {

Lamp same_batch() {
  Lamp lamp;
  lamp.name = "same_batch";
  lamp.summary = "The same batch comes again and again";
  lamp.severity = Severity::kWarning;
  lamp.reads = {"inputs"};
  lamp.waits_for = 3;
  lamp.false_alarms = 0.005;
  lamp.is_exact = true;
  light_above(lamp, {"inputs", "same_batch", {0}}, 3, [](Finding& finding, double) {
    finding.symptom = "The batch is always the same";
    finding.evidence = "All samples of a batch are those of the batch before";
    finding.cause = "a data loader that is made anew at every step, or an index that does not move";
    finding.advice = "Make the iterator over the data once, outside of the loop";
  });
  return lamp;
}

}  // namespace flightdeck::lamps
