// SPDX-License-Identifier: MIT
// Turns answers about rows into what the caller asked for: scaled, per parameter and in total, kept
// or streamed.
#pragma once

#include <string>
#include <vector>

#include "flightdeck/gradients.h"
#include "rows/answer.h"

namespace flightdeck {

class Results {
 public:
  // Begins without reports. `count` is the number of rows: N, or the samples chosen.
  // `hears_arrivals`: the norm of what reaches a parameter is told by `arrive`; otherwise the mean
  // is what arrives.
  Results(const Parameters& parameters,
          Needs what,
          const GradientOptions& options,
          int64_t scratch_bytes,
          int64_t count,
          bool hears_arrivals);

  // Returns what to ask of the rows of a parameter so that `report` can answer the needs.
  Questions questions_for(size_t parameter) const;

  // Takes the answers; rows are to be multiplied by `factor` (one element, or undefined for 1).
  void report(size_t parameter, Answers answers, const Tensor& factor);

  // Reports a parameter whose rows are all zero.
  void report_unused(size_t parameter);

  // Takes the norm of the gradient that reached the parameter. Only the first one counts.
  void arrive(size_t parameter, const Tensor& norm);

  bool is_reported(size_t parameter) const { return is_reported_[parameter]; }
  Coverage& coverage() { return result_.coverage; }
  ParameterCoverage& coverage(size_t parameter) { return result_.coverage.parameters[parameter]; }
  void remark(std::string text) { result_.remarks.push_back(std::move(text)); }

  // Returns everything reported so far; call once.
  Gradients finish();

 private:
  void pass_on(size_t parameter);
  void finish_totals();

  Parameters parameters_;
  Needs what_;
  GradientOptions options_;
  int64_t scratch_bytes_;
  int64_t count_;
  bool hears_arrivals_;
  std::vector<bool> is_reported_;
  Asked asked_;                                     // what the caller asks of rows
  std::vector<Values> totals_;                      // of each of these
  std::vector<std::vector<Values>> waiting_parts_;  // of the totals, to be added up together
  std::vector<Tensor> squared_means_;
  Asked needed_;                       // the same, and what it takes to report it
  std::vector<Tensor> arrived_norms_;  // of each parameter, or undefined
  Gradients result_;
};

}  // namespace flightdeck
