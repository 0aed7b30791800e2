// SPDX-License-Identifier: MIT
#include <cmath>

#include "suite/learning_rate.h"
#include "suite/schedule_fields.h"

namespace flightdeck::suite::schedules {

ScheduleEntry cyclic() {
  ScheduleEntry entry;
  entry.name = "cyclic";
  entry.form = "cyclic[:EPOCHS[:LOW[:DECAY]]]";
  entry.summary =
      "Triangles of EPOCHS epochs (10) between LOW (0.1) and 1, each DECAY times (1) as high as "
      "the one before";
  entry.factor = [](const ScheduleFields& fields) -> LearningRateFactor {
    fields.allow(3);
    const double epochs = fields.number(0, 10.0, 1.0, 1e9);
    const double low = fields.number(1, 0.1, 0.0, 1.0);
    const double decay = fields.number(2, 1.0, 0.0, 1.0);
    return [epochs, low, decay](const Progress& progress) {
      const double cycle = epochs * static_cast<double>(progress.steps_per_epoch);
      const double step = static_cast<double>(progress.step);
      const double share = std::fmod(step, cycle) / cycle;
      const double height = (1.0 - low) * std::pow(decay, std::floor(step / cycle));
      return low + height * (1.0 - std::abs(2.0 * share - 1.0));
    };
  };
  return entry;
}

}  // namespace flightdeck::suite::schedules
