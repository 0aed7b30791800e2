// SPDX-License-Identifier: MIT
// This lamp is exact: it reads the weight that backward() gives to the losses. Factors of a scaled
// loss are powers of two from 1024 on.
#include <cmath>

#include "lamps/fields.h"
#include "lamps/recent.h"

namespace flightdeck::lamps {

Lamp summed_losses() {
  constexpr double kLimit = 1.5;
  Lamp lamp;
  lamp.name = "summed_losses";
  lamp.summary = "The losses are summed over the samples, not averaged";
  lamp.severity = Severity::kWarning;
  lamp.reads = {"wiring"};
  lamp.pictured = {{"wiring", "loss_weight", {kLimit}}};
  lamp.waits_for = 3;
  lamp.false_alarms = 0.005;
  lamp.is_exact = true;
  lamp.look = [](const LampView& view) -> std::vector<Finding> {
    const Recent weight = recent_field(view, "wiring", "loss_weight", 3);
    if (weight.points.empty() || !(weight.median() > kLimit)) return {};
    const double times = weight.median(), power = std::log2(times);
    if (power >= 10 && std::abs(power - std::round(power)) < 1e-6) return {};
    Finding finding;
    finding.step = weight.points.back().step;
    finding.quantity = "wiring";
    finding.symptom = "The losses are summed, not averaged";
    finding.evidence = "Together the losses have the weight " + short_text(times) +
                       " in backward()" + weight.where();
    finding.cause = "a sum over the samples where the learning rate is meant for a mean";
    finding.advice =
        "Take the mean of the losses, or divide the learning rate by " + short_text(times);
    finding.rate_factor = 1 / times;
    return {finding};
  };
  return lamp;
}

}  // namespace flightdeck::lamps
