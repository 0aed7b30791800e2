// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>

#include "suite/learning_rate.h"
#include "suite/schedule_fields.h"

namespace flightdeck::suite::schedules {

ScheduleEntry linear_cosine() {
  ScheduleEntry entry;
  entry.name = "linear_cosine";
  entry.form = "linear_cosine[:PERIODS[:ALPHA[:BETA]]]";
  entry.summary =
      "(ALPHA + 1 - t) times a cosine of PERIODS (0.5) over the run, and BETA; ALPHA 0, BETA 0.001";
  entry.factor = [](const ScheduleFields& fields) -> LearningRateFactor {
    fields.allow(3);
    const double periods = fields.number(0, 0.5, 0.0, 1e6);
    const double alpha = fields.number(1, 0.0, 0.0, 1.0);
    const double beta = fields.number(2, 1e-3, 0.0, 1.0);
    return [periods, alpha, beta](const Progress& progress) {
      const double share = std::min(
          1.0, static_cast<double>(progress.step) / static_cast<double>(progress.total_steps));
      const double wave = 0.5 * (1.0 + std::cos(2.0 * M_PI * periods * share));
      return (alpha + 1.0 - share) * wave + beta;
    };
  };
  return entry;
}

}  // namespace flightdeck::suite::schedules
