// SPDX-License-Identifier: MIT
#include <cmath>

#include "lamps/fields.h"
#include "lamps/recent.h"

namespace flightdeck::lamps {

Lamp one_class() {
  constexpr double kLimit = 0.6;
  Lamp lamp;
  lamp.name = "one_class";
  lamp.summary = "One of three classes or more has over 60 % of a batch";
  lamp.severity = Severity::kWarning;
  lamp.reads = {"inputs"};
  lamp.pictured = {{"inputs", "label_largest", {kLimit}}};
  lamp.waits_for = 20;
  lamp.false_alarms = 0.005;
  lamp.look = [](const LampView& view) -> std::vector<Finding> {
    const Recent largest = recent_field(view, "inputs", "label_largest", 20);
    const Recent classes = recent_field(view, "logits", "classes", 1);
    if (largest.points.empty() || (!classes.points.empty() && classes.median() < 3)) return {};
    if (!(largest.median() > kLimit)) return {};
    Finding finding;
    finding.step = largest.points.back().step;
    finding.quantity = "inputs";
    finding.symptom = "One class rules the batches";
    finding.evidence = "The commonest label of a batch has " + percent_text(largest.median()) +
                       " of it" + largest.where();
    finding.cause = "classes of very different size, or data in the order of their classes";
    finding.advice = "Shuffle the data; weight the classes, or draw them equally often";
    return {finding};
  };
  return lamp;
}

}  // namespace flightdeck::lamps
