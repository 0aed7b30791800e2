// SPDX-License-Identifier: MIT
#include "quantities/curvature_choice.h"

namespace flightdeck {
namespace {

std::vector<Tensor> field_of(const Curvature& curvature, Tensor ParameterCurvature::*field) {
  std::vector<Tensor> tensors;
  for (const ParameterCurvature& parameter : curvature.parameters) {
    tensors.push_back(parameter.*field);
  }
  return tensors;
}

}  // namespace

CurvatureChoice::CurvatureChoice(Settings& settings) {
  const std::string matrix =
      settings.choice("curvature", {"hessian", "ggn", "ggn_mc"}, "which curvature matrix");
  batch_.samples = settings.integer("samples", 0, "first samples of the batch used; 0: all");
  const int64_t mc_samples =
      settings.integer("mc_samples", 1, "ggn_mc: would-be gradients per sample", 1);
  if (matrix == "ggn") {
    diagonal_need_ = CurvatureNeed::kDiagGgn;
    trace_need_ = CurvatureNeed::kTraceGgn;
    diagonal_ = &ParameterCurvature::diag_ggn;
    trace_ = &ParameterCurvature::trace_ggn;
  } else if (matrix == "ggn_mc") {
    diagonal_need_ = CurvatureNeed::kDiagGgnMc;
    trace_need_ = CurvatureNeed::kTraceGgnMc;
    diagonal_ = &ParameterCurvature::diag_ggn_mc;
    trace_ = &ParameterCurvature::trace_ggn_mc;
    // Exact matrices keep the default, so that a difference that does not matter costs no pass.
    batch_.mc_samples = mc_samples;
  }
}

StepNeeds CurvatureChoice::with_diagonal(StepNeeds needs) const {
  needs.curvature = needs.curvature | diagonal_need_;
  needs.curvature_batch = batch_;
  return needs;
}

StepNeeds CurvatureChoice::with_trace(StepNeeds needs) const {
  needs.curvature = needs.curvature | trace_need_;
  needs.curvature_batch = batch_;
  return needs;
}

std::vector<Tensor> CurvatureChoice::diagonals(const StepView& step) const {
  return field_of(step.curvature(batch_), diagonal_);
}

std::vector<Tensor> CurvatureChoice::traces(const StepView& step) const {
  return field_of(step.curvature(batch_), trace_);
}

}  // namespace flightdeck
