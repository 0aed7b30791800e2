// SPDX-License-Identifier: MIT
#include "lamps/fields.h"
#include "lamps/recent.h"

namespace flightdeck::lamps {

Lamp slow_data() {
  Lamp lamp;
  lamp.name = "slow_data";
  lamp.summary = "Waiting for data takes more time than all else of a step";
  lamp.severity = Severity::kAdvice;
  lamp.reads = {"step_times"};
  lamp.pictured = {{"step_times", "data", {}}, {"step_times", "", {}}};
  lamp.waits_for = 20;
  lamp.is_evidence = false;
  lamp.look = [](const LampView& view) -> std::vector<Finding> {
    const Recent data = recent_field(view, "step_times", "data", 20);
    const Recent whole = recent_field(view, "step_times", "", 20);
    const Recent cockpit = recent_field(view, "step_times", "cockpit", 20);
    if (data.points.empty() || whole.points.empty() || cockpit.points.empty()) return {};
    const double own = whole.median() - cockpit.median();
    // Times below a millisecond come from the clock and the scheduler.
    if (!(data.median() > 0.5 * own && data.median() > 1e-3)) return {};
    Finding finding;
    finding.step = data.points.back().step;
    finding.quantity = "step_times";
    finding.symptom = "The training waits for data";
    finding.evidence = "Data take " + short_text(data.median()) + " s of the " + short_text(own) +
                       " s of a step" + data.where();
    finding.cause = "a loader that cannot keep up";
    finding.advice = "Read in more workers, ahead of time, or keep what was decoded";
    return {finding};
  };
  return lamp;
}

}  // namespace flightdeck::lamps
