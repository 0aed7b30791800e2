// SPDX-License-Identifier: MIT
#include <cmath>

#include "lamps/recent.h"

namespace flightdeck::lamps {

Lamp large_updates() {
  Lamp lamp;
  lamp.name = "large_updates";
  lamp.summary = "A step changes the parameters by more than a tenth";
  lamp.severity = Severity::kWarning;
  lamp.reads = {"update_ratio"};
  lamp.look = [](const LampView& view) -> std::vector<Finding> {
    const Recent ratio = recent_of_model(view, "update_ratio", 3);
    if (ratio.points.empty() || !(ratio.median() > -1)) return {};
    Finding finding;
    finding.step = ratio.points.back().step;
    finding.quantity = "update_ratio";
    finding.symptom = "The parameters are overwritten by single steps";
    finding.evidence = "A step is " + short_text(std::pow(10, ratio.median())) +
                       " times as long as the parameters" + ratio.where() + "; 0.001 is usual";
    finding.cause = "a learning rate that is too large, or gradients that exploded";
    finding.advice = "Lower the learning rate, or clip gradients";
    return {finding};
  };
  return lamp;
}

}  // namespace flightdeck::lamps
