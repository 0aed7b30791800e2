// SPDX-License-Identifier: MIT
// What is asked of rows, and what they answer. The names are those of Need and ParameterGradients.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "flightdeck/gradients.h"
#include "rows/along_mean.h"

namespace flightdeck {

using at::Tensor;

// These are asked in one go, so that answers can share work.
struct Questions {
  Needs what;
  Tensor directions;  // [V, *shape], for dots
  AlongMean along;    // the one direction in factors, if it is known so
  std::vector<Bins> histograms;
  std::vector<JointBins> joint_histograms;
  std::vector<Tensor> value_bins;  // one [*shape] per joint histogram; see value_bin_index
  // What is a mean over the samples is a sum times this: 1 gives sums, 1/N means.
  double share = 1;
  int64_t scratch_bytes = int64_t{64} << 20;
};

// Entries of a row are [*shape], also in the tensors of Questions. A tensor that is as large as
// the parameter is never shared with another one.
struct Answers : ParameterGradients {
  std::string algorithm;  // how they were obtained, for the coverage report
};

// Returns the same questions where entries sit elsewhere: `move(tensor, lead)` is called for every
// tensor [*lead, *shape].
template <typename Move>
Questions moved(Questions questions, const Move& move) {
  if (questions.directions.defined()) questions.directions = move(questions.directions, 1);
  for (Tensor& bins : questions.value_bins) bins = move(bins, 0);
  return questions;
}

}  // namespace flightdeck
