// SPDX-License-Identifier: MIT

#include "suite/learning_rate.h"
#include "suite/schedule_fields.h"

namespace flightdeck::suite::schedules {

ScheduleEntry inverse_time() {
  ScheduleEntry entry;
  entry.name = "inverse_time";
  entry.form = "inverse_time:RATE[:LAST]";
  entry.summary = "1 / (1 + RATE E) after E epochs, down to LAST (0)";
  entry.factor = [](const ScheduleFields& fields) -> LearningRateFactor {
    fields.allow(2);
    fields.list(0);  // has no default
    const double rate = fields.number(0, 0.0, 0.0, 1e9);
    const double last = fields.number(1, 0.0, 0.0, 1.0);
    return [rate, last](const Progress& progress) {
      const double epoch =
          static_cast<double>(progress.step) / static_cast<double>(progress.steps_per_epoch);
      return last + (1.0 - last) / (1.0 + rate * epoch);
    };
  };
  return entry;
}

}  // namespace flightdeck::suite::schedules
