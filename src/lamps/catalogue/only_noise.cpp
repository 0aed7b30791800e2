// SPDX-License-Identifier: MIT
#include "lamps/recent.h"

namespace flightdeck::lamps {

Lamp only_noise() {
  Lamp lamp;
  lamp.name = "only_noise";
  lamp.summary = "The gradient looks like noise: early_stopping is above 0";
  lamp.severity = Severity::kAdvice;
  lamp.reads = {"early_stopping"};
  lamp.look = [](const LampView& view) -> std::vector<Finding> {
    const Recent criterion = recent_of_model(view, "early_stopping", 10);
    if (criterion.points.empty() || !(criterion.median() > 0)) return {};
    Finding finding;
    finding.step = criterion.points.back().step;
    finding.quantity = "early_stopping";
    finding.symptom = "The gradient looks like noise";
    finding.evidence =
        "early_stopping is " + short_text(criterion.median()) + criterion.where() + ", above 0";
    finding.cause = "training that has converged as far as this batch size can tell";
    finding.advice = "Stop, lower the learning rate, or take larger batches";
    return {finding};
  };
  return lamp;
}

}  // namespace flightdeck::lamps
