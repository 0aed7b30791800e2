// SPDX-License-Identifier: MIT
#include "lamps/fields.h"
#include "lamps/recent.h"

namespace flightdeck::lamps {

Lamp same_streams() {
  Lamp lamp;
  lamp.name = "same_streams";
  lamp.summary = "Ranks draw the same random numbers, and the model has dropout";
  lamp.severity = Severity::kAdvice;
  lamp.reads = {"rank_streams", "wiring"};
  lamp.pictured = {{"rank_streams", "", {0}}};
  lamp.waits_for = 3;
  lamp.is_evidence = false;
  lamp.look = [](const LampView& view) -> std::vector<Finding> {
    const Recent same = recent_of_model(view, "rank_streams", 3);
    const Recent dropouts = recent_field(view, "wiring", "dropouts", 3);
    if (same.points.empty() || dropouts.points.empty()) return {};
    if (!(same.median() > 0) || !(dropouts.median() > 0)) return {};
    Finding finding;
    finding.step = same.points.back().step;
    finding.quantity = "rank_streams";
    finding.symptom = "Ranks leave out the same units";
    finding.evidence = short_text(same.median()) +
                       " ranks have generators in one state, and the graph has " +
                       short_text(dropouts.median()) + " dropouts" + same.where();
    finding.cause = "one seed on all ranks";
    finding.advice = "Seed with the rank added, after the parameters are made";
    return {finding};
  };
  return lamp;
}

}  // namespace flightdeck::lamps
