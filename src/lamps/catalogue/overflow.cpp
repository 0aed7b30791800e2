// SPDX-License-Identifier: MIT
// The loss goes bad in a step whose gradients had not grown before: it is the arithmetic, not the
// learning rate.
#include <algorithm>
#include <cmath>

#include "lamps/fields.h"
#include "lamps/recent.h"

namespace flightdeck::lamps {
namespace {

// Returns true if a loss had grown to so much that the next one had to break.
bool had_grown(const std::vector<NumberPoint>& points, int64_t before) {
  double first = -1, last = -1;
  for (const NumberPoint& point : points) {
    if (point.step >= before || !std::isfinite(point.value)) break;
    if (first < 0) first = point.value;
    last = std::max(last, point.value);
  }
  return first >= 0 && last > 10 * first;
}

// Returns false where a loss was finite but the first gradient is not, or is missing.
bool knows_gradients(const std::vector<NumberPoint>& points, int64_t first_loss, int64_t broken) {
  return broken == first_loss || (!points.empty() && std::isfinite(points.front().value));
}

}  // namespace

Lamp overflow() {
  Lamp lamp;
  lamp.name = "overflow";
  lamp.summary = "The loss turns NaN or infinite though gradients had not grown";
  lamp.severity = Severity::kFailure;
  lamp.reads = {"grad_norm", "loss"};
  lamp.pictured = {{"loss", "", {}}, {"grad_norm", "", {}}};
  lamp.false_alarms = 0.005;
  lamp.look = [](const LampView& view) -> std::vector<Finding> {
    const Recent last = recent_field(view, "loss", "", 1);
    const SeriesInfo* norms = view.find("grad_norm");
    if (last.points.empty() || std::isfinite(last.points[0].value) || !norms) return {};
    const std::vector<NumberPoint> losses = view.run.numbers(last.series.id);
    const std::vector<NumberPoint> gradients = view.run.numbers(norms->id);
    const auto broken = std::find_if(losses.begin(), losses.end(), [](const NumberPoint& point) {
      return !std::isfinite(point.value);
    });
    if (!knows_gradients(gradients, losses.front().step, broken->step) ||
        had_grown(gradients, broken->step) || had_grown(losses, broken->step)) {
      return {};
    }
    Finding finding;
    finding.step = broken->step;
    finding.quantity = "grad_norm";
    finding.symptom = "Numbers left the range of their type";
    finding.evidence = "The loss is not finite at step " + std::to_string(broken->step) +
                       ", though neither it nor the gradient had grown before";
    finding.cause =
        "an operation outside of its range: a logarithm or division of 0, an exponential, half "
        "precision";
    finding.advice =
        "Find the operation (track finite), and guard it: log_softmax instead of log(softmax), a "
        "small number under the division, a smaller loss scale";
    return {finding};
  };
  return lamp;
}

}  // namespace flightdeck::lamps
