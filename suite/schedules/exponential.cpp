// SPDX-License-Identifier: MIT
#include <cmath>

#include "suite/learning_rate.h"
#include "suite/schedule_fields.h"

namespace flightdeck::suite::schedules {

ScheduleEntry exponential() {
  ScheduleEntry entry;
  entry.name = "exponential";
  entry.form = "exponential:FACTOR[:LAST]";
  entry.summary = "Times FACTOR in every epoch, smoothly, down to LAST (0)";
  entry.factor = [](const ScheduleFields& fields) -> LearningRateFactor {
    fields.allow(2);
    fields.list(0);  // has no default
    const double factor = fields.number(0, 1.0, 0.0, 1.0);
    const double last = fields.number(1, 0.0, 0.0, 1.0);
    return [factor, last](const Progress& progress) {
      const double epoch =
          static_cast<double>(progress.step) / static_cast<double>(progress.steps_per_epoch);
      return last + (1.0 - last) * std::pow(factor, epoch);
    };
  };
  return entry;
}

}  // namespace flightdeck::suite::schedules
