// SPDX-License-Identifier: MIT
// The parameters' length is that of a step over the ratio of both.
#include <cmath>

#include "lamps/fields.h"
#include "lamps/recent.h"

namespace flightdeck::lamps {
namespace {

// The median; NaN where there are too few values.
double length_of(const Recent& size, const Recent& ratio) {
  return size.points.empty() || ratio.points.empty() ? std::nan("")
                                                     : size.median() / std::pow(10, ratio.median());
}

}  // namespace

Lamp shrinking_parameters() {
  Lamp lamp;
  lamp.name = "shrinking_parameters";
  lamp.summary = "The parameters lost a quarter of their length or more";
  lamp.severity = Severity::kWarning;
  lamp.reads = {"update_ratio", "update_size"};
  lamp.pictured = {{"update_ratio", "", {}}, {"update_size", "", {}}};
  lamp.waits_for = 10;
  lamp.false_alarms = 0.01;
  lamp.look = [](const LampView& view) -> std::vector<Finding> {
    const Recent ratio = recent_field(view, "update_ratio", "", 1);
    if (ratio.series.count < 10) return {};
    const double before = length_of(first_of_field(view, "update_size", "", 1),
                                    first_of_field(view, "update_ratio", "", 1));
    const double now = length_of(recent_field(view, "update_size", "", 1), ratio);
    if (!(now < 0.75 * before)) return {};
    Finding finding;
    finding.step = ratio.points.back().step;
    finding.quantity = "update_ratio";
    finding.symptom = "The parameters shrink";
    finding.evidence = "Their length was " + short_text(before) + " and is " + short_text(now) +
                       " at step " + std::to_string(finding.step);
    finding.cause = "a penalty or weight decay that is too strong";
    finding.advice = "Divide weight decay or penalty by ten";
    return {finding};
  };
  return lamp;
}

}  // namespace flightdeck::lamps
