// SPDX-License-Identifier: MIT
#include "suite/schedules/epoch_steps.h"

#include <algorithm>

namespace flightdeck::suite::schedules {

EpochSteps::EpochSteps(const ScheduleFields& fields, size_t index)
    : epochs_(fields.list(index)), factors_(fields.list(index + 1)) {
  if (epochs_.size() != factors_.size()) {
    fields.refuse("has " + std::to_string(epochs_.size()) + " epochs but " +
                  std::to_string(factors_.size()) + " factors");
  }
  for (size_t i = 0; i < epochs_.size(); ++i) {
    if (epochs_[i] < 0 || (i > 0 && epochs_[i] <= epochs_[i - 1]))
      fields.refuse("needs rising epochs");
    if (factors_[i] < 0) fields.refuse("has a factor below 0");
  }
}

double EpochSteps::factor(const Progress& progress) const {
  const double epoch = static_cast<double>(progress.step / progress.steps_per_epoch);
  const auto passed = std::upper_bound(epochs_.begin(), epochs_.end(), epoch) - epochs_.begin();
  return passed == 0 ? 1.0 : factors_[static_cast<size_t>(passed - 1)];
}

}  // namespace flightdeck::suite::schedules
