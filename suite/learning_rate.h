// SPDX-License-Identifier: MIT
// Schedules of the learning rate: a factor on the base rate for every step.
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

/// Where a run stands. Steps count from 0.
struct Progress {
  int64_t step = 0;
  int64_t steps_per_epoch = 1;
  int64_t total_steps = 1;
};

class LearningRateSchedule {
 public:
  /// Text forms, with default values where parts are left out:
  ///   constant
  ///   step:EPOCHS:FACTORS          from epoch EPOCHS[i] on the factor is FACTORS[i] (not
  ///                                cumulative), "step:30,60:0.1,0.01"
  ///   cosine[:LAST]                (1 + cos(pi t)) / 2 over the run, down to LAST (0)
  ///   cosine_restarts[:EPOCHS[:GROWTH]]
  ///                                the same over cycles, the first of EPOCHS epochs (10), each
  ///                                GROWTH times (2) as long as the one before
  ///   exponential:FACTOR           times FACTOR in every epoch, smoothly
  ///   trapezoid[:UP[:DOWN]]        linear from 0 over the first UP of the run (0.1), constant,
  ///                                linear to 0 over the last DOWN (0.1)
  ///   cyclic[:EPOCHS[:LOW]]        triangles of EPOCHS epochs (10) between LOW (0.1) and 1
  /// With "@epoch" behind it a schedule is piecewise constant: steps are epochs.
  /// Throws c10::ValueError, listing the forms, on any other text.
  static LearningRateSchedule parse(const std::string& text);
  /// The text forms, one each, for help.
  static const std::vector<std::string>& forms();

  LearningRateSchedule() : LearningRateSchedule(parse("constant")) {}
  const std::string& text() const { return text_; }
  /// What the base rate is multiplied by at this step.
  double factor(const Progress& progress) const { return factor_(progress); }
  /// The number of epochs after which a run of `epochs` is judged: all of them, but with restarts
  /// the last ones that end a cycle, if one ends.
  int64_t reported_epoch(int64_t epochs) const;

 private:
  LearningRateSchedule(std::string text, std::function<double(const Progress&)> factor)
      : text_(std::move(text)), factor_(std::move(factor)) {}

  std::string text_;
  std::function<double(const Progress&)> factor_;
};

/// Sets the rate of every parameter group.
void set_learning_rate(torch::optim::Optimizer& optimizer, double value);
/// The rate of the first parameter group.
double learning_rate(const torch::optim::Optimizer& optimizer);

}  // namespace flightdeck::suite
