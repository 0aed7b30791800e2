// SPDX-License-Identifier: MIT
#include <cmath>

#include "suite/learning_rate.h"
#include "suite/schedule_fields.h"

namespace flightdeck::suite::schedules {

ScheduleEntry cyclic_exponential() {
  ScheduleEntry entry;
  entry.name = "cyclic_exponential";
  entry.form = "cyclic_exponential:FACTOR[:EPOCHS[:LOW]]";
  entry.summary =
      "Triangles of EPOCHS epochs (10) above LOW (0.1) whose height is FACTOR^E after E epochs";
  entry.factor = [](const ScheduleFields& fields) -> LearningRateFactor {
    fields.allow(3);
    fields.list(0);  // has no default
    const double factor = fields.number(0, 1.0, 0.0, 1.0);
    const double epochs = fields.number(1, 10.0, 1.0, 1e9);
    const double low = fields.number(2, 0.1, 0.0, 1.0);
    return [factor, epochs, low](const Progress& progress) {
      const double epoch =
          static_cast<double>(progress.step) / static_cast<double>(progress.steps_per_epoch);
      const double share = std::fmod(epoch, epochs) / epochs;
      const double height = (1.0 - low) * std::pow(factor, epoch);
      return low + height * (1.0 - std::abs(2.0 * share - 1.0));
    };
  };
  return entry;
}

}  // namespace flightdeck::suite::schedules
