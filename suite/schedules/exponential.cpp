// SPDX-License-Identifier: MIT
#include <cmath>

#include "suite/learning_rate.h"
#include "suite/schedule_fields.h"

namespace flightdeck::suite::schedules {

ScheduleEntry exponential() {
  ScheduleEntry entry;
  entry.name = "exponential";
  entry.form = "exponential:FACTOR";
  entry.summary = "Times FACTOR in every epoch, smoothly";
  entry.factor = [](const ScheduleFields& fields) -> LearningRateFactor {
    fields.allow(1);
    fields.list(0);  // has no default
    const double factor = fields.number(0, 1.0, 0.0, 1.0);
    return [factor](const Progress& progress) {
      return std::pow(
          factor,
          static_cast<double>(progress.step) / static_cast<double>(progress.steps_per_epoch));
    };
  };
  return entry;
}

}  // namespace flightdeck::suite::schedules
