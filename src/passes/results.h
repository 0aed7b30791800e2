// SPDX-License-Identifier: MIT
// Turns answers about rows into what the caller asked for: scaled, per parameter and in total, kept
// or streamed.
#pragma once

#include <string>
#include <vector>

#include "flightdeck/gradients.h"
#include "rows/form.h"

namespace flightdeck {

class Results {
 public:
  /// `count` is the number of rows: N, or the samples chosen.
  Results(const Parameters& parameters, Needs what, const GradientOptions& options, int64_t count);

  /// What to ask of the rows of a parameter so that `report` can answer the needs.
  Questions questions_for(size_t parameter) const;

  /// Takes the answers; rows are to be multiplied by `factor` (one element, or undefined for 1).
  void report(size_t parameter, const Answers& answers, const Tensor& factor);

  /// All rows are zero.
  void report_unused(size_t parameter);

  bool is_reported(size_t parameter) const { return is_reported_[parameter]; }
  Coverage& coverage() { return result_.coverage; }
  ParameterCoverage& coverage(size_t parameter) { return result_.coverage.parameters[parameter]; }
  void remark(std::string text) { result_.remarks.push_back(std::move(text)); }

  /// Everything reported so far; call once.
  Gradients finish();

 private:
  Parameters parameters_;
  Needs what_;
  GradientOptions options_;
  int64_t count_;
  std::vector<bool> is_reported_;
  std::vector<Tensor> norms_;  // of each parameter, [count]
  Gradients result_;
};

}  // namespace flightdeck
