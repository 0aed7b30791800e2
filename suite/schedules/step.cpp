// SPDX-License-Identifier: MIT
#include <algorithm>

#include "suite/learning_rate.h"
#include "suite/schedule_fields.h"

namespace flightdeck::suite::schedules {
namespace {

void check_steps(const ScheduleFields& fields,
                 const std::vector<double>& epochs,
                 const std::vector<double>& factors) {
  if (epochs.size() != factors.size()) {
    fields.refuse("has " + std::to_string(epochs.size()) + " epochs but " +
                  std::to_string(factors.size()) + " factors");
  }
  for (size_t i = 0; i < epochs.size(); ++i) {
    if (epochs[i] < 0 || (i > 0 && epochs[i] <= epochs[i - 1]))
      fields.refuse("needs rising epochs");
    if (factors[i] < 0) fields.refuse("has a factor below 0");
  }
}

}  // namespace

ScheduleEntry step() {
  ScheduleEntry entry;
  entry.name = "step";
  entry.form = "step:EPOCHS:FACTORS";
  entry.summary =
      "From the i-th of EPOCHS on the i-th of FACTORS, not cumulative: step:30,60:0.1,0.01";
  entry.factor = [](const ScheduleFields& fields) -> LearningRateFactor {
    fields.allow(2);
    const std::vector<double> epochs = fields.list(0), factors = fields.list(1);
    check_steps(fields, epochs, factors);
    return [epochs, factors](const Progress& progress) {
      const double epoch = static_cast<double>(progress.step / progress.steps_per_epoch);
      const auto passed = std::upper_bound(epochs.begin(), epochs.end(), epoch) - epochs.begin();
      return passed == 0 ? 1.0 : factors[static_cast<size_t>(passed - 1)];
    };
  };
  return entry;
}

}  // namespace flightdeck::suite::schedules
