// SPDX-License-Identifier: MIT
// The published formula has the width of the model to the power -1/2 before it; here the base rate
// is the peak.
#include <algorithm>
#include <cmath>

#include "suite/learning_rate.h"
#include "suite/schedule_fields.h"

namespace flightdeck::suite::schedules {

ScheduleEntry noam() {
  ScheduleEntry entry;
  entry.name = "noam";
  entry.form = "noam[:STEPS]";
  entry.summary = "Linear to 1 over STEPS steps (4000), then as one over the root of the step";
  entry.factor = [](const ScheduleFields& fields) -> LearningRateFactor {
    fields.allow(1);
    const double peak = fields.number(0, 4000.0, 1.0, 1e12);
    return [peak](const Progress& progress) {
      const double step = static_cast<double>(progress.step) + 1.0;
      return std::min(step / peak, std::sqrt(peak / step));
    };
  };
  return entry;
}

}  // namespace flightdeck::suite::schedules
