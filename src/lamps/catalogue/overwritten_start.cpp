// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>

#include "lamps/fields.h"
#include "lamps/recent.h"
#include "lamps/update_lengths.h"

namespace flightdeck::lamps {

Lamp overwritten_start() {
  Lamp lamp;
  lamp.name = "overwritten_start";
  lamp.summary = "One of the first five steps is over a quarter of the parameters";
  lamp.severity = Severity::kWarning;
  lamp.reads = {"update_ratio"};
  lamp.pictured = {{"update_ratio", "", {-0.6}}};
  lamp.waits_for = 5;
  lamp.false_alarms = 0.005;
  lamp.look = [](const LampView& view) -> std::vector<Finding> {
    const Recent first = first_of_field(view, "update_ratio", "", 5);
    if (first.points.empty()) return {};
    const auto longest = std::max_element(
        first.points.begin(), first.points.end(), [](const NumberPoint& a, const NumberPoint& b) {
          return a.value < b.value;
        });
    // After these five steps `large_updates` looks at the last ones.
    if (!(longest->value > -0.6)) return {};
    Finding finding;
    finding.symptom = "The first steps overwrite the parameters";
    finding.cause = "a learning rate that is too large";
    // The rate advice uses the first step alone: nothing had changed the parameters before it.
    tell_update_length(finding, longest->step, longest->value, 0.02, "");
    const double first_length = std::pow(10, first.points.front().value);
    if (first_length > 0 && std::isfinite(first_length)) finding.rate_factor = 0.02 / first_length;
    finding.advice = rate_advice(finding.rate_factor);
    return {finding};
  };
  return lamp;
}

}  // namespace flightdeck::lamps
