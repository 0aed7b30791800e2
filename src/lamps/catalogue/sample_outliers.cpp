// SPDX-License-Identifier: MIT
// Samples whose gradient is far longer than that of the others, beyond the line that the panel
// draws.
#include <sstream>

#include "flightdeck/lamp.h"

namespace flightdeck::lamps {
namespace {

// Where web/src/instruments/sample_outliers.ts draws "look at them".
constexpr double kLookAtThem = 10;
constexpr int64_t kOutlierStretches = 256;

}  // namespace

Lamp sample_outliers() {
  Lamp lamp;
  lamp.name = "sample_outliers";
  lamp.summary = "A sample's gradient is more than ten times as long as the median";
  lamp.severity = Severity::kAdvice;
  lamp.reads = {"sample_outliers"};
  lamp.look = [](const LampView& view) -> std::vector<Finding> {
    const auto series = view.run.find("sample_outliers");
    if (!series || series->kind != ReadingKind::kNumber) return {};
    const NumberStretch* worst = nullptr;
    const std::vector<NumberStretch> all = view.run.stretches(series->id, {}, kOutlierStretches);
    for (const NumberStretch& stretch : all) {
      if (stretch.max > kLookAtThem && (!worst || stretch.max > worst->max)) worst = &stretch;
    }
    if (!worst) return {};
    Finding finding;
    finding.step = worst->max_step;
    finding.quantity = "sample_outliers";
    finding.symptom = "Single samples steer the update";
    std::ostringstream evidence;
    evidence.precision(3);
    evidence << "The longest gradient of a sample is " << worst->max << " times the median at step "
             << worst->max_step;
    finding.evidence = evidence.str();
    finding.cause = "wrong labels, broken inputs, or rare cases";
    finding.advice = "Look at the largest samples at this step, which are listed by their place";
    return {finding};
  };
  return lamp;
}

}  // namespace flightdeck::lamps
