// SPDX-License-Identifier: MIT
#include "flightdeck/lamp.h"

namespace flightdeck::lamps {

Lamp broken_off() {
  Lamp lamp;
  lamp.name = "broken_off";
  lamp.summary = "The run failed with an exception, or its process is gone";
  lamp.severity = Severity::kFailure;
  lamp.reads = {"status"};
  lamp.is_evidence = false;
  lamp.look = [](const LampView& view) -> std::vector<Finding> {
    const RunSummary& run = view.summary;
    const std::string where = run.last_step < 0 ? "before the first values"
                                                : "after step " + std::to_string(run.last_step);
    Finding finding;
    finding.step = run.last_step;
    if (run.status == RunStatus::kFailed) {
      finding.symptom = "The run failed";
      finding.evidence = "It ended with an exception " + where + "; its command printed why";
      return {finding};
    }
    if (run.status == RunStatus::kKilled) {
      finding.symptom = "The run was killed";
      finding.evidence = "Its process is gone " + where + " without ending the run";
      finding.cause = "killed, out of memory, or the machine went down";
      finding.advice = "All values up to there are safe; see the log of the system";
      return {finding};
    }
    return {};
  };
  return lamp;
}

}  // namespace flightdeck::lamps
