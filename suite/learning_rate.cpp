// SPDX-License-Identifier: MIT
#include "suite/learning_rate.h"

#include <torch/torch.h>

#include "suite/schedule_fields.h"

namespace flightdeck::suite {
namespace schedules {

#define FLIGHTDECK_ENTRY(name) ScheduleEntry name();
#include "flightdeck/schedules.inc"
#undef FLIGHTDECK_ENTRY

}  // namespace schedules

namespace {

constexpr const char* kPerEpoch = "@epoch";

// Gives every step of an epoch the schedule's factor at the first.
LearningRateFactor per_epoch(const LearningRateFactor& factor) {
  return [factor](const Progress& progress) {
    const int64_t steps = progress.steps_per_epoch;
    return factor({progress.step / steps, 1, (progress.total_steps + steps - 1) / steps});
  };
}

const ScheduleEntry& entry_of(const ScheduleFields& fields) {
  for (const ScheduleEntry& entry : all_schedules()) {
    if (entry.name == fields.name()) return entry;
  }
  fields.refuse("is no schedule");
}

}  // namespace

const std::vector<ScheduleEntry>& all_schedules() {
  static const std::vector<ScheduleEntry> table = {
#define FLIGHTDECK_ENTRY(name) schedules::name(),
#include "flightdeck/schedules.inc"
#undef FLIGHTDECK_ENTRY
  };
  return table;
}

LearningRateSchedule LearningRateSchedule::parse(const std::string& text) {
  const std::string suffix = kPerEpoch;
  const bool is_per_epoch = text.size() > suffix.size() &&
                            text.compare(text.size() - suffix.size(), suffix.size(), suffix) == 0;
  const ScheduleFields fields(is_per_epoch ? text.substr(0, text.size() - suffix.size()) : text);
  const LearningRateFactor factor = entry_of(fields).factor(fields);
  return {text, is_per_epoch ? per_epoch(factor) : factor};
}

int64_t LearningRateSchedule::reported_epoch(int64_t epochs) const {
  const ScheduleFields fields(text_.substr(0, text_.find('@')));
  const ScheduleEntry& entry = entry_of(fields);
  return entry.reported_epoch ? entry.reported_epoch(fields, epochs) : epochs;
}

void set_learning_rate(torch::optim::Optimizer& optimizer, double value) {
  for (torch::optim::OptimizerParamGroup& group : optimizer.param_groups()) {
    group.options().set_lr(value);
  }
}

double learning_rate(const torch::optim::Optimizer& optimizer) {
  return optimizer.param_groups().front().options().get_lr();
}

}  // namespace flightdeck::suite
