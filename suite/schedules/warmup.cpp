// SPDX-License-Identifier: MIT

#include "suite/learning_rate.h"
#include "suite/schedule_fields.h"

namespace flightdeck::suite::schedules {

ScheduleEntry warmup() {
  ScheduleEntry entry;
  entry.name = "warmup";
  entry.form = "warmup[:EPOCHS[:LOW]]";
  entry.summary = "Linear from LOW (0) to 1 over the first EPOCHS epochs (5), then 1";
  entry.factor = [](const ScheduleFields& fields) -> LearningRateFactor {
    fields.allow(2);
    const double epochs = fields.number(0, 5.0, 0.0, 1e9);
    const double low = fields.number(1, 0.0, 0.0, 1.0);
    return [epochs, low](const Progress& progress) {
      // The first of the U steps has 1/U of the way and the last all of it, so that none stands
      // still.
      const double rise = epochs * static_cast<double>(progress.steps_per_epoch);
      const double risen = static_cast<double>(progress.step) + 1.0;
      return risen >= rise ? 1.0 : low + (1.0 - low) * risen / rise;
    };
  };
  return entry;
}

}  // namespace flightdeck::suite::schedules
