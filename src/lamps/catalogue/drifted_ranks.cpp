// SPDX-License-Identifier: MIT
#include "lamps/fields.h"
#include "lamps/recent.h"

namespace flightdeck::lamps {

Lamp drifted_ranks() {
  Lamp lamp;
  lamp.name = "drifted_ranks";
  lamp.summary = "Ranks that should have equal parameters have not";
  lamp.severity = Severity::kFailure;
  lamp.reads = {"rank_drift"};
  lamp.pictured = {{"rank_drift", "", {0}}};
  lamp.is_evidence = false;  // of no cause that one process can have
  lamp.look = [](const LampView& view) -> std::vector<Finding> {
    const Recent drift = recent_of_model(view, "rank_drift", 1);
    if (drift.points.empty() || !(drift.points.back().value > 0)) return {};
    Finding finding;
    finding.step = drift.points.back().step;
    finding.quantity = "rank_drift";
    finding.symptom = "Replicas have drifted apart";
    finding.evidence = "The parameters of " + short_text(drift.points.back().value) +
                       " ranks are not those of the first to the bit at step " +
                       std::to_string(finding.step);
    finding.cause =
        "an update without the average of all gradients, another start, or a generator that makes "
        "ranks differ";
    finding.advice =
        "Broadcast parameters and buffers from rank 0, and let one optimizer step follow one "
        "average";
    return {finding};
  };
  return lamp;
}

}  // namespace flightdeck::lamps
