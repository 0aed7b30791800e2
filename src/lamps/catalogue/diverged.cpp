// SPDX-License-Identifier: MIT
// One finding for one divergence, at the step that the command line names too.
#include <algorithm>
#include <cmath>
#include <optional>
#include <sstream>

#include "flightdeck/lamp.h"

namespace flightdeck::lamps {
namespace {

// Returns the step that the program recorded with the ending; -1 if it did not.
int64_t told_divergence(const RunSummary& summary) {
  const auto told = summary.info.config.find("diverged_at");
  if (told == summary.info.config.end()) return -1;
  int64_t step = -1;
  std::istringstream(told->second) >> step;
  return step;
}

bool is_training_loss(const SeriesInfo& series) {
  return series.field.empty() && (series.quantity == "loss" || series.quantity == "train_loss");
}

Finding loss_not_finite(const std::string& quantity, const NumberPoint& point) {
  Finding finding;
  finding.step = point.step;
  finding.quantity = quantity;
  finding.symptom = "The loss is no longer finite";
  finding.evidence = quantity + " is " + (std::isnan(point.value) ? "NaN" : "infinite") +
                     " at step " + std::to_string(point.step);
  return finding;
}

// Finds the first training loss that is not finite, where the last is not finite either.
std::optional<Finding> recorded_divergence(const LampView& view) {
  std::optional<Finding> earliest;
  for (const LastNumber& last : view.summary.numbers) {
    if (!is_training_loss(last.series) || std::isfinite(last.point.value)) continue;
    const std::vector<NumberPoint> points = view.run.numbers(last.series.id);
    const auto first = std::find_if(points.begin(), points.end(), [](const NumberPoint& point) {
      return !std::isfinite(point.value);
    });
    const NumberPoint point = first == points.end() ? last.point : *first;
    if (!earliest || point.step < earliest->step) {
      earliest = loss_not_finite(last.series.quantity, point);
    }
  }
  return earliest;
}

std::optional<Finding> divergence(const LampView& view) {
  const int64_t step = told_divergence(view.summary);
  if (step < 0) return recorded_divergence(view);
  Finding finding;
  finding.step = step;
  finding.symptom = "The training diverged";
  finding.evidence = "The loss is not finite at step " + std::to_string(step);
  return finding;
}

}  // namespace

Lamp diverged() {
  Lamp lamp;
  lamp.name = "diverged";
  lamp.summary = "The training loss became NaN or infinite and stayed so";
  lamp.severity = Severity::kFailure;
  lamp.reads = {"loss", "train_loss", "status"};
  lamp.pictured = {{"loss", "", {}}};
  lamp.waits_for = 0;
  lamp.false_alarms = 0.005;
  lamp.look = [](const LampView& view) -> std::vector<Finding> {
    std::optional<Finding> finding = divergence(view);
    if (!finding) return {};
    finding->advice =
        "Look for the first step at which gradients grow; lower the learning rate, clip "
        "gradients, or check the data";
    finding->rate_factor = 0.1;
    return {*finding};
  };
  return lamp;
}

}  // namespace flightdeck::lamps
