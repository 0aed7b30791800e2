// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>

#include "suite/learning_rate.h"
#include "suite/schedule_fields.h"

namespace flightdeck::suite::schedules {

ScheduleEntry cosine() {
  ScheduleEntry entry;
  entry.name = "cosine";
  entry.form = "cosine[:LAST]";
  entry.summary = "(1 + cos(pi t)) / 2 over the run, down to LAST (0)";
  entry.factor = [](const ScheduleFields& fields) -> LearningRateFactor {
    fields.allow(1);
    const double last = fields.number(0, 0.0, 0.0, 1.0);
    return [last](const Progress& progress) {
      const double share =
          static_cast<double>(progress.step) / static_cast<double>(progress.total_steps);
      return last + (1.0 - last) * 0.5 * (1.0 + std::cos(M_PI * std::min(share, 1.0)));
    };
  };
  return entry;
}

}  // namespace flightdeck::suite::schedules
