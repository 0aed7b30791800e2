// SPDX-License-Identifier: MIT
#include "lamps/fields.h"
#include "lamps/recent.h"

namespace flightdeck::lamps {

Lamp at_chance() {
  Lamp lamp;
  lamp.name = "at_chance";
  lamp.summary = "After 50 losses or more the loss is no lower than that of equal odds";
  lamp.severity = Severity::kWarning;
  lamp.reads = {"loss", "logits"};
  lamp.pictured = {{"loss", "", {}}, {"logits", "uniform_loss", {}}};
  lamp.waits_for = 50;
  lamp.false_alarms = 0.005;
  lamp.look = [](const LampView& view) -> std::vector<Finding> {
    const Recent loss = recent_field(view, "loss", "", 20);
    const Recent uniform = first_of_field(view, "logits", "uniform_loss", 1);
    if (loss.points.empty() || uniform.points.empty() || loss.series.count < 50) return {};
    const double odds = uniform.points[0].value;
    if (!(loss.median() > 0.97 * odds)) return {};
    Finding finding;
    finding.step = loss.points.back().step;
    finding.quantity = "loss";
    finding.symptom = "The model does no better than chance";
    finding.evidence = "The loss is " + short_text(loss.median()) + loss.where() +
                       "; equal odds for all classes give " + short_text(odds);
    finding.cause =
        "a learning rate far off, layers without gradient, or labels that do not belong to the "
        "inputs";
    finding.advice = "Try to learn one batch by heart; what fails there is not the data";
    return {finding};
  };
  return lamp;
}

}  // namespace flightdeck::lamps
