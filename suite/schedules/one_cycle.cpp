// SPDX-License-Identifier: MIT
// The published policy moves the momentum the other way at the same time; a schedule here is of the
// learning rate alone.
#include <algorithm>
#include <cmath>

#include "suite/learning_rate.h"
#include "suite/schedule_fields.h"

namespace flightdeck::suite::schedules {

ScheduleEntry one_cycle() {
  ScheduleEntry entry;
  entry.name = "one_cycle";
  entry.form = "one_cycle[:LOW[:END[:LAST]]]";
  entry.summary =
      "A triangle from LOW (0.1) to 1 and back, and in the last END of the run (0.1) on to LAST "
      "(0.001)";
  entry.factor = [](const ScheduleFields& fields) -> LearningRateFactor {
    fields.allow(3);
    const double low = fields.number(0, 0.1, 0.0, 1.0);
    const double end = fields.number(1, 0.1, 0.0, 1.0);
    const double last = fields.number(2, 1e-3, 0.0, 1.0);
    if (last > low) fields.refuse("ends above the foot of its triangle");
    return [low, end, last](const Progress& progress) {
      const double share = std::min(
          1.0, static_cast<double>(progress.step) / static_cast<double>(progress.total_steps));
      const double triangle = 1.0 - end;
      if (share >= triangle) {
        return end == 0.0 ? low : low + (last - low) * (share - triangle) / end;
      }
      return low + (1.0 - low) * (1.0 - std::abs(2.0 * share / triangle - 1.0));
    };
  };
  return entry;
}

}  // namespace flightdeck::suite::schedules
