// SPDX-License-Identifier: MIT
// What the benchmarks of curvature share: checks of the answers, and the questions themselves.
#pragma once

#include <cmath>
#include <memory>
#include <string>

#include <ATen/ATen.h>

#include "cli/bench/turns.h"
#include "flightdeck/products.h"
#include "flightdeck/spectra.h"

namespace flightdeck::cli {

// Eigenvalues are asked for with this tolerance.
constexpr double kEigenvalueTolerance = 1e-3;
// Norms and products of float32 vectors with up to a million entries are this exact.
constexpr double kTolerance = 1e-3;

// Checks the answers of one quantity on one problem against what is known of them.
class AnswerChecker {
 public:
  AnswerChecker(const Workload& workload, const std::string& quantity)
      : where_("bench: " + workload.name() + ", " + quantity + ": ") {}

  void shape(const Tensor& answer, at::IntArrayRef expected) const {
    TORCH_CHECK(answer.defined(), where_, "there is no answer where one was asked for", kReport);
    TORCH_CHECK(answer.sizes() == expected,
                where_,
                "an answer has shape ",
                answer.sizes(),
                " instead of ",
                expected,
                kReport);
  }

  void finite(const Tensor& answer) const {
    const int64_t bad = answer.numel() - at::isfinite(answer).sum().item<int64_t>();
    TORCH_CHECK(bad == 0, where_, bad, " of ", answer.numel(), " numbers are not finite", kReport);
  }

  void not_negative(const Tensor& answer) const {
    const double smallest = answer.min().item<double>();
    TORCH_CHECK(smallest >= 0, where_, "there is a ", smallest, " among squares", kReport);
  }

  void equal(const char* what, double value, double expected) const {
    TORCH_CHECK(std::abs(value - expected) <= kTolerance * std::abs(expected),
                where_,
                what,
                " is ",
                value,
                " instead of ",
                expected,
                kReport);
  }

  void converged(const Eigenpairs& pairs) const {
    TORCH_CHECK(pairs.all_converged(),
                where_,
                "the eigenvalue has not converged to ",
                kEigenvalueTolerance,
                " after ",
                pairs.products,
                " products; try another --batch");
  }

 private:
  static constexpr const char* kReport =
      "; please report this with the output of flightdeck doctor";
  std::string where_;
};

template <typename Step, typename Check>
Candidate candidate_of(Step step, Check check) {
  Candidate candidate;
  candidate.check = [step, check] { check(step()); };
  candidate.step = [step] { return std::any(step()); };
  return candidate;
}

inline std::shared_ptr<const CurvatureOperator> new_operator(Workload& workload,
                                                             CurvatureKind kind) {
  return curvature_operator(workload.losses(), workload.parameters(), kind);
}

inline int64_t dim(const Workload& workload) {
  int64_t entries = 0;
  for (const NamedParameter& parameter : workload.parameters()) entries += parameter.tensor.numel();
  return entries;
}

}  // namespace flightdeck::cli
