// SPDX-License-Identifier: MIT
// Factors that come into force at the start of epochs, for the schedules that step.
#pragma once

#include <vector>

#include "suite/learning_rate.h"
#include "suite/schedule_fields.h"

namespace flightdeck::suite::schedules {

class EpochSteps {
 public:
  /// Reads epochs from field `index`, factors from the next; refuses what does not fit.
  EpochSteps(const ScheduleFields& fields, size_t index);

  /// Returns the factor of the last of the epochs that has begun; 1 before the first.
  double factor(const Progress& progress) const;

 private:
  std::vector<double> epochs_, factors_;
};

}  // namespace flightdeck::suite::schedules
