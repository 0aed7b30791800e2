// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>

#include "suite/learning_rate.h"
#include "suite/schedule_fields.h"

namespace flightdeck::suite::schedules {

ScheduleEntry polynomial() {
  ScheduleEntry entry;
  entry.name = "polynomial";
  entry.form = "polynomial[:POWER[:LAST]]";
  entry.summary = "(1 - t)^POWER (1: linear) over the run, down to LAST (0)";
  entry.factor = [](const ScheduleFields& fields) -> LearningRateFactor {
    fields.allow(2);
    const double power = fields.number(0, 1.0, 0.0, 1e3);
    const double last = fields.number(1, 0.0, 0.0, 1.0);
    return [power, last](const Progress& progress) {
      const double share = std::min(
          1.0, static_cast<double>(progress.step) / static_cast<double>(progress.total_steps));
      return last + (1.0 - last) * std::pow(1.0 - share, power);
    };
  };
  return entry;
}

}  // namespace flightdeck::suite::schedules
