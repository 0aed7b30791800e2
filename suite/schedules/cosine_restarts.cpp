// SPDX-License-Identifier: MIT
#include <cmath>

#include "suite/learning_rate.h"
#include "suite/schedule_fields.h"

namespace flightdeck::suite::schedules {
namespace {

// Length of the first cycle in epochs, and the factor from each to the next.
struct Cycles {
  double first, growth;

  explicit Cycles(const ScheduleFields& fields)
      : first(fields.number(0, 10.0, 1.0, 1e9)), growth(fields.number(1, 2.0, 1.0, 1e3)) {}
};

// One cycle of a run; begin and length are in epochs.
struct Cycle {
  double begin, length;
  int64_t number = 0;
};

Cycle cycle_at(double epoch, const Cycles& cycles) {
  Cycle cycle{0.0, cycles.first};
  while (epoch >= cycle.begin + cycle.length) {
    cycle.begin += cycle.length;
    cycle.length *= cycles.growth;
    ++cycle.number;
  }
  return cycle;
}

}  // namespace

ScheduleEntry cosine_restarts() {
  ScheduleEntry entry;
  entry.name = "cosine_restarts";
  entry.form = "cosine_restarts[:EPOCHS[:GROWTH[:DECAY[:LAST]]]]";
  entry.summary =
      "Cosine cycles: the first of EPOCHS (10), then GROWTH times as long (2) and DECAY as high "
      "(1)";
  entry.factor = [](const ScheduleFields& fields) -> LearningRateFactor {
    fields.allow(4);
    const double decay = fields.number(2, 1.0, 0.0, 1.0);
    const double last = fields.number(3, 0.0, 0.0, 1.0);
    return [cycles = Cycles(fields), decay, last](const Progress& progress) {
      const double epoch =
          static_cast<double>(progress.step) / static_cast<double>(progress.steps_per_epoch);
      const Cycle cycle = cycle_at(epoch, cycles);
      const double height = (1.0 - last) * std::pow(decay, static_cast<double>(cycle.number));
      return last + height * 0.5 * (1.0 + std::cos(M_PI * (epoch - cycle.begin) / cycle.length));
    };
  };
  // A run is judged after the last epoch that ends a cycle, if one ends.
  entry.reported_epoch = [](const ScheduleFields& fields, int64_t epochs) {
    const auto last =
        static_cast<int64_t>(cycle_at(static_cast<double>(epochs), Cycles(fields)).begin);
    return last > 0 ? last : epochs;
  };
  return entry;
}

}  // namespace flightdeck::suite::schedules
