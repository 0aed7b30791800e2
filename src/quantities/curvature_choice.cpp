// SPDX-License-Identifier: MIT
#include "quantities/curvature_choice.h"

namespace flightdeck {
namespace {

// A gradient is two to three columns: at this many a step costs some two hundred plain ones.
constexpr int64_t kMostColumns = 512;

// Returns the exact field, or the sampled one that took its place.
std::vector<Tensor> field_of(const Curvature& curvature,
                             Tensor ParameterCurvature::*exact,
                             Tensor ParameterCurvature::*sampled) {
  std::vector<Tensor> tensors;
  for (const ParameterCurvature& parameter : curvature.parameters) {
    const Tensor& tensor = parameter.*exact;
    tensors.push_back(tensor.defined() ? tensor : parameter.*sampled);
  }
  return tensors;
}

}  // namespace

CurvatureChoice::CurvatureChoice(Settings& settings) {
  std::string matrix = settings.choice("curvature",
                                       {"hessian", "ggn", "ggn_mc", "exact_hessian", "exact_ggn"},
                                       "which curvature matrix; exact ones are never sampled");
  const bool is_exact = matrix.rfind("exact_", 0) == 0;
  if (is_exact) matrix = matrix.substr(std::string("exact_").size());
  batch_.samples = settings.integer("samples", 0, "first samples of the batch used; 0: all");
  const int64_t mc_samples =
      settings.integer("mc_samples", 1, "would-be gradients per sample, where sampled", 1);
  if (!is_exact && matrix != "ggn_mc") batch_.max_columns = kMostColumns;
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
  }
  // An exact choice keeps the default number of samples: quantities that differed in it alone would
  // not share their pass.
  if (!is_exact) batch_.mc_samples = mc_samples;
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
  return field_of(step.curvature(batch_), diagonal_, &ParameterCurvature::diag_ggn_mc);
}

std::vector<Tensor> CurvatureChoice::traces(const StepView& step) const {
  return field_of(step.curvature(batch_), trace_, &ParameterCurvature::trace_ggn_mc);
}

}  // namespace flightdeck
