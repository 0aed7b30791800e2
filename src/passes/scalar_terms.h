// SPDX-License-Identifier: MIT
// What a graph tells of a scalar loss: which of its terms the samples are in, and whether it is
// their mean or their sum. A scalar has no dimension of samples: what was reduced to it has, unless
// the entries that were added up are a parameter's own.
#pragma once

#include <string>
#include <unordered_map>

#include "flightdeck/batch.h"
#include "rules/rule.h"

namespace flightdeck {

class ScalarTerms {
 public:
  explicit ScalarTerms(int64_t N) : N_(N) {}

  // Returns true if what the edge leads to holds samples, or, if it is a single entry, was reduced
  // from them. Going down along the leading dimension of what was reduced, samples end in
  // constants, the data; the lines of a parameter end in the parameter itself. One sample looks
  // like any dimension of one: it is there if a parameter is used beside it.
  bool carries_samples(const compat::ag::Edge& edge);

 private:
  bool is_reduced_from_samples(compat::ag::Node* node);
  bool reaches_parameter(const compat::ag::Edge& reduced) const;

  int64_t N_;
  std::unordered_map<const compat::ag::Node*, bool> known_;
};

// Reads how a scalar was reduced over N samples and compares it with what the caller said.
class ReductionReading {
 public:
  ReductionReading(int64_t N, Reduction said) : N_(static_cast<double>(N)), said_(said) {}

  // Notes a term whose samples `op` reduces; `factor` is what the result is multiplied by, or NaN.
  void note(const std::string& op, Reduction reduction, double factor);
  // Returns true if samples were found.
  bool has_samples() const { return !op_.empty(); }
  // Says what is wrong if the terms read as the other reduction alone; empty if they do not. A
  // factor in between contradicts neither.
  std::string contradiction() const;

 private:
  double N_;
  Reduction said_;
  std::string op_;  // the first
  bool is_mean_ = false, is_sum_ = false;
};

}  // namespace flightdeck
