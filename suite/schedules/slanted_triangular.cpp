// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>

#include "suite/learning_rate.h"
#include "suite/schedule_fields.h"

namespace flightdeck::suite::schedules {

ScheduleEntry slanted_triangular() {
  ScheduleEntry entry;
  entry.name = "slanted_triangular";
  entry.form = "slanted_triangular[:CUT[:RATIO]]";
  entry.summary =
      "Linear from 1/RATIO (32) to 1 over the first CUT of the run (0.1), linear back over the "
      "rest";
  entry.factor = [](const ScheduleFields& fields) -> LearningRateFactor {
    fields.allow(2);
    const double cut = fields.number(0, 0.1, 0.0, 1.0);
    const double ratio = fields.number(1, 32.0, 1.0, 1e9);
    return [cut, ratio](const Progress& progress) {
      const double steps = static_cast<double>(progress.total_steps);
      const double step = std::min(static_cast<double>(progress.step), steps);
      const double top = std::floor(cut * steps);
      const double fall = std::max(steps - top, 1.0);
      const double height = step < top ? step / top : 1.0 - (step - top) / fall;
      return (1.0 + height * (ratio - 1.0)) / ratio;
    };
  };
  return entry;
}

}  // namespace flightdeck::suite::schedules
