// SPDX-License-Identifier: MIT

#include "suite/learning_rate.h"
#include "suite/schedule_fields.h"

namespace flightdeck::suite::schedules {

ScheduleEntry constant_warmup() {
  ScheduleEntry entry;
  entry.name = "constant_warmup";
  entry.form = "constant_warmup[:EPOCHS[:LOW]]";
  entry.summary = "LOW (0.1) for the first EPOCHS epochs (5), then 1";
  entry.factor = [](const ScheduleFields& fields) -> LearningRateFactor {
    fields.allow(2);
    const double epochs = fields.number(0, 5.0, 0.0, 1e9);
    const double low = fields.number(1, 0.1, 0.0, 1.0);
    return [epochs, low](const Progress& progress) {
      const double epoch =
          static_cast<double>(progress.step) / static_cast<double>(progress.steps_per_epoch);
      return epoch < epochs ? low : 1.0;
    };
  };
  return entry;
}

}  // namespace flightdeck::suite::schedules
