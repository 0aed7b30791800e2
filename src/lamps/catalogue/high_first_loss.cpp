// SPDX-License-Identifier: MIT
// A network that knows nothing has the loss of equal odds, log C.
#include <cmath>

#include "lamps/fields.h"
#include "lamps/recent.h"

namespace flightdeck::lamps {

Lamp high_first_loss() {
  Lamp lamp;
  lamp.name = "high_first_loss";
  lamp.summary = "The first loss is over 1.6 times that of equal odds";
  lamp.severity = Severity::kWarning;
  lamp.reads = {"loss", "logits"};
  lamp.pictured = {{"loss", "", {}}, {"logits", "uniform_loss", {}}};
  lamp.waits_for = 1;
  lamp.false_alarms = 0.005;
  lamp.look = [](const LampView& view) -> std::vector<Finding> {
    const Recent loss = first_of_field(view, "loss", "", 1);
    const Recent uniform = first_of_field(view, "logits", "uniform_loss", 1);
    if (loss.points.empty() || uniform.points.empty()) return {};
    const double first = loss.points[0].value, odds = uniform.points[0].value;
    if (!(first > 1.6 * odds) && std::isfinite(first)) return {};
    Finding finding;
    finding.step = loss.points[0].step;
    finding.quantity = "loss";
    finding.symptom = "The first loss is too high";
    finding.evidence =
        "It is " + short_text(first) + "; equal odds for all classes give " + short_text(odds);
    finding.cause = "weights that begin too large, or inputs that are not scaled";
    finding.advice = "Begin with weights of variance 2 / inputs, and normalise the inputs";
    return {finding};
  };
  return lamp;
}

}  // namespace flightdeck::lamps
