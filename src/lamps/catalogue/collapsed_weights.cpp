// SPDX-License-Identifier: MIT
#include "lamps/fields.h"
#include "lamps/recent.h"

namespace flightdeck::lamps {

Lamp collapsed_weights() {
  constexpr double kLimit = 1.2;
  Lamp lamp;
  lamp.name = "collapsed_weights";
  lamp.summary = "The stable rank of a weight matrix fell below 1.2 and half of its start";
  lamp.severity = Severity::kAdvice;
  lamp.reads = {"weight_spectra"};
  lamp.pictured = {{"weight_spectra", "stable_rank", {kLimit}}};
  lamp.waits_for = 10;
  lamp.is_evidence = false;
  lamp.look = [](const LampView& view) -> std::vector<Finding> {
    const Recent last = recent_field(view, "weight_spectra", "stable_rank", 10);
    const Recent first = first_of_field(view, "weight_spectra", "stable_rank", 3);
    if (last.points.empty() || !(last.median() < kLimit)) return {};
    if (!(last.median() < first.median() / 2)) return {};
    Finding finding;
    finding.step = last.points.back().step;
    finding.quantity = "weight_spectra";
    for (const Recent& group : recent(view, "weight_spectra", 1)) {
      const bool is_group = !group.series.group.empty() && group.series.field == "stable_rank";
      if (is_group && group.points[0].value < kLimit) finding.layers.push_back(group.series.group);
    }
    finding.symptom = "A weight matrix has one direction left";
    finding.evidence = "The smallest stable rank is " + short_text(last.median()) + last.where() +
                       "; it began at " + short_text(first.median());
    if (!finding.layers.empty()) finding.evidence += ": " + listed(finding.layers);
    finding.cause = "a learning rate that is too high, or a layer whose inputs are all alike";
    finding.advice = "Lower the learning rate, and look at the inputs of that layer";
    return {finding};
  };
  return lamp;
}

}  // namespace flightdeck::lamps
