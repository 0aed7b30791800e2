// SPDX-License-Identifier: MIT
// The parameters' length is the length of a step divided by the ratio of the two.
#include <algorithm>
#include <cmath>

#include "lamps/fields.h"
#include "lamps/recent.h"

namespace flightdeck::lamps {
namespace {

constexpr double kLengthLeft = 0.75,
                 kLengthLeftSoon = 0.93;  // of the length at the start; soon: ten steps

// Returns the median; NaN where there are too few values.
double length_of(const Recent& size, const Recent& ratio) {
  return size.points.empty() || ratio.points.empty() ? std::nan("")
                                                     : size.median() / std::pow(10, ratio.median());
}

}  // namespace

Lamp shrinking_parameters() {
  Lamp lamp;
  lamp.name = "shrinking_parameters";
  lamp.summary = "The parameters lost a quarter of their length, or a fourteenth in ten steps";
  lamp.severity = Severity::kWarning;
  lamp.reads = {"update_ratio", "update_size"};
  lamp.pictured = {{"update_ratio", "", {}}};
  lamp.waits_for = 10;
  lamp.false_alarms = 0.005;
  lamp.look = [](const LampView& view) -> std::vector<Finding> {
    const Recent ratio = recent_field(view, "update_ratio", "", 1);
    if (ratio.series.count < 10) return {};
    const Recent sizes = first_of_field(view, "update_size", "", 10),
                 ratios = first_of_field(view, "update_ratio", "", 10);
    if (sizes.points.empty() || ratios.points.empty()) return {};
    const auto length_at = [&](size_t k) {
      return sizes.points[k].value / std::pow(10, ratios.points[k].value);
    };
    const double before = length_at(0), soon = length_at(9);
    const double now = length_of(recent_field(view, "update_size", "", 1), ratio);
    // Gradients make parameters longer, if anything, so something else shortens them.
    const bool is_soon = soon < kLengthLeftSoon * before;
    if (!is_soon && !(now < kLengthLeft * before)) return {};
    Finding finding;
    finding.step = is_soon ? ratios.points[9].step : ratio.points.back().step;
    finding.quantity = "update_ratio";
    finding.symptom = "The parameters shrink";
    finding.evidence = "Their length was " + short_text(before) + " and is " +
                       short_text(is_soon ? soon : now) + " at step " +
                       std::to_string(finding.step);
    finding.cause = "a penalty or weight decay that is too strong";
    // The factor brings the loss of length down to a thousandth in ten steps.
    const double lost = 1 - (is_soon ? soon / before : std::pow(now / before, 0.1));
    finding.factor = std::clamp(0.001 / lost, 1e-4, 0.1);
    finding.advice = "Divide weight decay or penalty by about " + short_text(1 / finding.factor);
    return {finding};
  };
  return lamp;
}

}  // namespace flightdeck::lamps
