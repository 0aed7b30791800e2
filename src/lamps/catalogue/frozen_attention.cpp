// SPDX-License-Identifier: MIT
#include "lamps/fields.h"
#include "lamps/recent.h"

namespace flightdeck::lamps {

Lamp frozen_attention() {
  constexpr double kLimit = 0.05;
  Lamp lamp;
  lamp.name = "frozen_attention";
  lamp.summary = "The entropy of attention fell below 0.05 and a tenth of its start";
  lamp.severity = Severity::kWarning;
  lamp.reads = {"attention"};
  lamp.pictured = {{"attention", "", {kLimit}}};
  lamp.waits_for = 10;
  lamp.false_alarms = 0.005;
  lamp.is_evidence = false;
  lamp.look = [](const LampView& view) -> std::vector<Finding> {
    const Recent last = recent_field(view, "attention", "", 10);
    const Recent first = first_of_field(view, "attention", "", 3);
    if (last.points.empty() || !(last.median() < kLimit)) return {};
    if (!(last.median() < first.median() / 10)) return {};
    Finding finding;
    finding.step = last.points.back().step;
    finding.quantity = "attention";
    finding.symptom = "Every query looks at one key alone";
    finding.evidence = "The mean entropy of attention is " + short_text(last.median()) + " nats" +
                       last.where() + "; it began at " + short_text(first.median());
    finding.cause = "scores that have grown so large that their softmax passes no gradient";
    finding.advice = "Normalise queries and keys, lower the learning rate, or warm it up longer";
    return {finding};
  };
  return lamp;
}

}  // namespace flightdeck::lamps
