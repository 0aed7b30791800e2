// SPDX-License-Identifier: MIT
// The settings that all quantities of a curvature's diagonal share: which matrix, on which samples,
// and whether an exact one of very many columns gives way to one that is sampled.
#pragma once

#include <vector>

#include "flightdeck/quantity.h"

namespace flightdeck {

class CurvatureChoice {
 public:
  // Declares and reads `curvature`, `samples` and `mc_samples`.
  explicit CurvatureChoice(Settings& settings);

  // Add the diagonal or the trace to the needs.
  StepNeeds with_diagonal(StepNeeds needs) const;
  StepNeeds with_trace(StepNeeds needs) const;

  // Return what was asked for, one tensor per parameter.
  std::vector<Tensor> diagonals(const StepView& step) const;
  std::vector<Tensor> traces(const StepView& step) const;

 private:
  CurvatureNeed diagonal_need_ = CurvatureNeed::kDiagHessian;
  CurvatureNeed trace_need_ = CurvatureNeed::kTraceHessian;
  Tensor ParameterCurvature::*diagonal_ = &ParameterCurvature::diag_hessian;
  Tensor ParameterCurvature::*trace_ = &ParameterCurvature::trace_hessian;
  CurvatureBatch batch_;
};

}  // namespace flightdeck
