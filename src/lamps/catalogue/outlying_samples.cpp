// SPDX-License-Identifier: MIT
// Samples whose gradients are many times the usual: wrong labels, broken inputs, hard cases. The
// limit is the line in the panel of sample_outliers.
#include "lamps/recent.h"

namespace flightdeck::lamps {
namespace {

// Returns the places of the outliers in the data set, as far as they are recorded.
std::vector<std::string> outliers_at(const LampView& view, int64_t step) {
  std::vector<std::string> names;
  const auto ids = view.run.find("sample_outliers", "", "ids");
  if (!ids) return names;
  for (const auto& [at, reading] : view.run.readings(ids->id, {step, step})) {
    for (const double id : reading.list) names.push_back(std::to_string(static_cast<int64_t>(id)));
  }
  return names;
}

}  // namespace

Lamp outlying_samples() {
  constexpr double kLimit = 10;
  Lamp lamp;
  lamp.name = "outlying_samples";
  lamp.summary = "The largest individual gradient is over ten times the median one";
  lamp.severity = Severity::kAdvice;
  lamp.reads = {"sample_outliers"};
  lamp.pictured = {{"sample_outliers", "", {kLimit}}};
  lamp.waits_for = 3;
  lamp.false_alarms = 0.474;
  lamp.look = [](const LampView& view) -> std::vector<Finding> {
    const Recent ratio = recent_of_model(view, "sample_outliers", 3);
    if (ratio.points.empty() || !(ratio.median() > kLimit)) return {};
    Finding finding;
    finding.step = ratio.points.back().step;
    finding.quantity = "sample_outliers";
    finding.symptom = "Single samples rule the gradient";
    finding.evidence = "The largest individual gradient is " + short_text(ratio.median()) +
                       " times the median one" + ratio.where();
    const std::vector<std::string> names = outliers_at(view, finding.step);
    if (!names.empty()) finding.evidence += "; there, samples " + listed(names);
    finding.cause = "wrong labels, broken inputs or hard cases";
    finding.advice = "Look at these samples; clip gradients if they are right";
    return {finding};
  };
  return lamp;
}

}  // namespace flightdeck::lamps
