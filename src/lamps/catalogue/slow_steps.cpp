// SPDX-License-Identifier: MIT
#include "lamps/fields.h"
#include "lamps/recent.h"
#include "lamps/update_lengths.h"

namespace flightdeck::lamps {

Lamp slow_steps() {
  Lamp lamp;
  lamp.name = "slow_steps";
  lamp.summary =
      "Steps are below a six-hundredth of the parameters, and the loss has hardly fallen";
  lamp.severity = Severity::kAdvice;
  lamp.reads = {"update_ratio", "loss"};
  lamp.pictured = {{"update_ratio", "", {-2.8}}};
  lamp.waits_for = 40;
  lamp.false_alarms = 0.005;
  lamp.look = [](const LampView& view) -> std::vector<Finding> {
    const Recent ratio = recent_of_model(view, "update_ratio", 20);
    const Recent loss = recent_field(view, "loss", "", 20);
    if (ratio.points.empty() || loss.points.empty() || loss.series.count < 40) return {};
    const double before = first_of_field(view, "loss", "", 3).median();
    if (!(ratio.median() < -2.8) || !(before > 0) || !(loss.median() > 0.67 * before)) return {};
    Finding finding;
    finding.symptom = "The training crawls";
    finding.cause = "a learning rate that is too small, or gradients that are clipped or vanish";
    tell_update_length(finding, ratio.points.back().step, ratio.median(), 0.01, ratio.where());
    finding.evidence +=
        "; the loss went from " + short_text(before) + " to " + short_text(loss.median());
    finding.advice = rate_advice(finding.rate_factor);
    return {finding};
  };
  return lamp;
}

}  // namespace flightdeck::lamps
