// SPDX-License-Identifier: MIT
#include "suite/schedules/epoch_steps.h"

namespace flightdeck::suite::schedules {

ScheduleEntry step() {
  ScheduleEntry entry;
  entry.name = "step";
  entry.form = "step:EPOCHS:FACTORS";
  entry.summary =
      "From the i-th of EPOCHS on the i-th of FACTORS, not cumulative: step:30,60:0.1,0.01";
  entry.factor = [](const ScheduleFields& fields) -> LearningRateFactor {
    fields.allow(2);
    return [steps = EpochSteps(fields, 0)](const Progress& progress) {
      return steps.factor(progress);
    };
  };
  return entry;
}

}  // namespace flightdeck::suite::schedules
