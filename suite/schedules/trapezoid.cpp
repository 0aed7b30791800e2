// SPDX-License-Identifier: MIT
// With U steps of warm-up the first has 1/U and the last 1; with D steps of decay the first has
// 1 - 1/(D + 1) and the last 1/(D + 1).
#include <algorithm>
#include <cmath>

#include "suite/learning_rate.h"
#include "suite/schedule_fields.h"

namespace flightdeck::suite::schedules {

ScheduleEntry trapezoid() {
  ScheduleEntry entry;
  entry.name = "trapezoid";
  entry.form = "trapezoid[:UP[:DOWN]]";
  entry.summary =
      "Linear from 0 over the first UP of the run (0.1), constant, linear to 0 over the last DOWN "
      "(0.1)";
  entry.factor = [](const ScheduleFields& fields) -> LearningRateFactor {
    fields.allow(2);
    const double up = fields.number(0, 0.1, 0.0, 1.0);
    const double down = fields.number(1, 0.1, 0.0, 1.0);
    if (up + down > 1.0) fields.refuse("rises and falls over more than the whole run");
    return [up, down](const Progress& progress) {
      const double steps = static_cast<double>(progress.total_steps);
      const double step = static_cast<double>(progress.step);
      const double rise = std::round(up * steps), fall = std::round(down * steps);
      if (step < rise) return (step + 1.0) / rise;
      const double fallen = step - (steps - fall) + 1.0;
      return fallen <= 0.0 ? 1.0 : std::max(0.0, 1.0 - fallen / (fall + 1.0));
    };
  };
  return entry;
}

}  // namespace flightdeck::suite::schedules
