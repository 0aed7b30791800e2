// SPDX-License-Identifier: MIT
#include <utility>

#include "base/order_statistics.h"
#include "lamps/recent.h"

namespace flightdeck::lamps {
namespace {

double median_of_first(const LampView& view, const SeriesInfo& series, int64_t count) {
  std::vector<double> values;
  for (const NumberPoint& point : view.run.numbers(series.id, {}, count)) {
    values.push_back(point.value);
  }
  return median(std::move(values));
}

}  // namespace

Lamp no_progress() {
  Lamp lamp;
  lamp.name = "no_progress";
  lamp.summary = "After 300 losses or more the loss is where it began";
  lamp.severity = Severity::kWarning;
  lamp.reads = {"loss"};
  lamp.pictured = {{"loss", "", {}}};
  lamp.waits_for = 300;
  lamp.false_alarms = 0.005;
  lamp.look = [](const LampView& view) -> std::vector<Finding> {
    const Recent loss = recent_of_model(view, "loss", 100);
    if (loss.points.empty() || loss.series.count < 300) return {};
    const double before = median_of_first(view, loss.series, 20);
    // A loss that is not positive has no share that it could have fallen by.
    if (!(before > 0) || !(loss.median() > 0.98 * before)) return {};
    Finding finding;
    finding.step = loss.points.back().step;
    finding.quantity = "loss";
    finding.symptom = "The loss has not fallen";
    finding.evidence = "It began at " + short_text(before) + " (median of the first 20) and is " +
                       short_text(loss.median()) + loss.where();
    finding.cause =
        "a learning rate far off, parameters that are not trained, layers without gradient, or "
        "labels that do not belong to the inputs";
    finding.advice =
        "Look at grad_norm by layer, alpha and update_ratio, and try to learn one batch by heart";
    return {finding};
  };
  return lamp;
}

}  // namespace flightdeck::lamps
