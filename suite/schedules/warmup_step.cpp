// SPDX-License-Identifier: MIT
#include "suite/schedules/epoch_steps.h"

namespace flightdeck::suite::schedules {

ScheduleEntry warmup_step() {
  ScheduleEntry entry;
  entry.name = "warmup_step";
  entry.form = "warmup_step:WARMUP:EPOCHS:FACTORS";
  entry.summary =
      "Linear from 0 to 1 over the first WARMUP epochs, then step: warmup_step:5:30,60:0.1,0.01";
  entry.factor = [](const ScheduleFields& fields) -> LearningRateFactor {
    fields.allow(3);
    fields.list(0);  // has no default
    const double warmup = fields.number(0, 0.0, 0.0, 1e9);
    const EpochSteps steps(fields, 1);
    return [warmup, steps](const Progress& progress) {
      const double rise = warmup * static_cast<double>(progress.steps_per_epoch);
      const double risen = static_cast<double>(progress.step) + 1.0;
      return (risen >= rise ? 1.0 : risen / rise) * steps.factor(progress);
    };
  };
  return entry;
}

}  // namespace flightdeck::suite::schedules
