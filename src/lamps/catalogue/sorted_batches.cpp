// SPDX-License-Identifier: MIT
// Finds batches of one class each, but not of the same one.
#include <set>

#include "lamps/fields.h"
#include "lamps/recent.h"

namespace flightdeck::lamps {

Lamp sorted_batches() {
  constexpr double kLimit = 2;
  Lamp lamp;
  lamp.name = "sorted_batches";
  lamp.summary = "Batches have one or two classes each, and others from batch to batch";
  lamp.severity = Severity::kWarning;
  lamp.reads = {"inputs"};
  lamp.pictured = {{"inputs", "label_classes", {kLimit}}};
  lamp.waits_for = 10;
  lamp.false_alarms = 0.005;
  lamp.look = [](const LampView& view) -> std::vector<Finding> {
    const Recent classes = recent_field(view, "inputs", "label_classes", 10);
    const Recent low = recent_field(view, "inputs", "label_low", 40);
    const Recent some = low.points.empty() ? recent_field(view, "inputs", "label_low", 10) : low;
    if (classes.points.empty() || some.points.empty() || !(classes.median() <= kLimit)) return {};
    std::set<double> labels;
    for (const NumberPoint& point : some.points) labels.insert(point.value);
    if (labels.size() < 2) return {};
    Finding finding;
    finding.step = classes.points.back().step;
    finding.quantity = "inputs";
    finding.symptom = "The data are in the order of their classes";
    finding.evidence = "A batch has " + short_text(classes.median()) + " classes" +
                       classes.where() + ", but not always the same";
    finding.cause = "data that are not shuffled";
    finding.advice = "Shuffle the data before every epoch";
    return {finding};
  };
  return lamp;
}

}  // namespace flightdeck::lamps
