// SPDX-License-Identifier: MIT
// Schedules of the learning rate: a factor on the base rate for every step. Entries live in
// schedules/, one file each.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace torch::optim {
class Optimizer;
}

namespace flightdeck::suite {

class ScheduleFields;

/// Where a run stands. Steps count from 0.
struct Progress {
  int64_t step = 0;
  int64_t steps_per_epoch = 1;
  int64_t total_steps = 1;
};

/// A function that gives what the base rate is multiplied by.
using LearningRateFactor = std::function<double(const Progress&)>;

struct ScheduleEntry {
  std::string name;
  std::string form;     ///< how it is written, optional fields in brackets: "cosine[:LAST]"
  std::string summary;  ///< one line that names the fields and their defaults
  /// Throws c10::ValueError (ScheduleFields::refuse) if the fields do not fit.
  std::function<LearningRateFactor(const ScheduleFields&)> factor;
  /// Returns the number of epochs after which a run of `epochs` is judged; empty: all of them.
  std::function<int64_t(const ScheduleFields&, int64_t epochs)> reported_epoch = nullptr;
};

/// Returns all entries, by name.
const std::vector<ScheduleEntry>& all_schedules();

class LearningRateSchedule {
 public:
  /// Reads the text form of an entry, with default values where parts are left out. With "@epoch"
  /// behind it a schedule is piecewise constant: steps are epochs. Throws c10::ValueError, listing
  /// the forms, on any other text.
  static LearningRateSchedule parse(const std::string& text);

  LearningRateSchedule() : LearningRateSchedule(parse("constant")) {}
  const std::string& text() const { return text_; }
  /// Returns what the base rate is multiplied by at this step.
  double factor(const Progress& progress) const { return factor_(progress); }
  /// Returns the number of epochs after which a run of `epochs` is judged: all of them, but with
  /// restarts the last ones that end a cycle, if one ends.
  int64_t reported_epoch(int64_t epochs) const;

 private:
  LearningRateSchedule(std::string text, LearningRateFactor factor)
      : text_(std::move(text)), factor_(std::move(factor)) {}

  std::string text_;
  LearningRateFactor factor_;
};

/// Sets the rate of every parameter group.
void set_learning_rate(torch::optim::Optimizer& optimizer, double value);
/// Returns the rate of the first parameter group.
double learning_rate(const torch::optim::Optimizer& optimizer);

}  // namespace flightdeck::suite
