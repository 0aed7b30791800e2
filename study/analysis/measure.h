// SPDX-License-Identifier: MIT
// Which of a run's scores is looked at.
#pragma once

#include <string>

#include "study/outcome.h"

namespace flightdeck::study {

enum class MeasuredPart { kTrain, kValid, kTest };

// Returns "train", "valid" or "test".
std::string name_of(MeasuredPart part);
// Throws std::invalid_argument on another name.
MeasuredPart part_of(const std::string& name);

// Loss or accuracy on one part of the data.
struct Measure {
  MeasuredPart part = MeasuredPart::kTest;
  bool is_accuracy = false;

  std::string name() const { return name_of(part) + (is_accuracy ? " accuracy" : " loss"); }
  // Returns whether score `a` is better than score `b`.
  bool is_better(double a, double b) const { return is_accuracy ? a > b : a < b; }
  // Returns whether the score is at the target or beyond.
  bool reaches(double score, double target) const {
    return is_accuracy ? score >= target : score <= target;
  }
  // Returns how much better `after` is than `before`; negative if it is worse.
  double gain(double before, double after) const {
    return is_accuracy ? after - before : before - after;
  }
};

template <typename Curves>
auto& curve_of(Curves& run, MeasuredPart part) {
  return part == MeasuredPart::kTrain   ? run.train
         : part == MeasuredPart::kValid ? run.valid
                                        : run.test;
}

// Returns an empty list if the run has no such scores.
template <typename Curves>
auto& scores_of(Curves& run, const Measure& measure) {
  auto& curve = curve_of(run, measure.part);
  return measure.is_accuracy ? curve.accuracy : curve.loss;
}

}  // namespace flightdeck::study
