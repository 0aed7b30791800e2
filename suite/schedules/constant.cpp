// SPDX-License-Identifier: MIT
#include "suite/learning_rate.h"
#include "suite/schedule_fields.h"

namespace flightdeck::suite::schedules {

ScheduleEntry constant() {
  ScheduleEntry entry;
  entry.name = "constant";
  entry.form = "constant";
  entry.summary = "The base rate at every step";
  entry.factor = [](const ScheduleFields& fields) -> LearningRateFactor {
    fields.allow(0);
    return [](const Progress&) { return 1.0; };
  };
  return entry;
}

}  // namespace flightdeck::suite::schedules
