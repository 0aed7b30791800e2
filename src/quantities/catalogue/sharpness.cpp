// SPDX-License-Identifier: MIT
// Sharpness as the optimizer meets it: the Hessian scaled by rates and preconditioner, against the
// value beyond which its steps would grow.
#include <ATen/ATen.h>

#include "flightdeck/quantity.h"
#include "flightdeck/spectra.h"

namespace flightdeck::quantities {
namespace {

// Returns the largest eigenvalue of rate/scale times the Hessian up to which steps along it do not
// grow.
double stability_bound(const UpdateFormula& formula) {
  const double b = formula.momentum;
  if (formula.averages) return 2 * (1 + b) / (1 - b);
  return formula.is_nesterov ? 2 * (1 + b) / (1 + 2 * b) : 2 * (1 + b);
}

Value sharpness_value(const StepView& step, const SpectrumNeed& need) {
  const std::vector<UpdateFormula>& formulas = step.update_formulas();
  if (formulas.empty()) {
    return Value::none(
        "the optimizer was not told to watch, has made no step yet, or its formula is not known");
  }
  const Eigenpairs& pairs = step.spectrum(need);
  const double bound = stability_bound(formulas[0]);
  const Tensor eigenvalue = pairs.values[0].to(at::kDouble);
  Value value(eigenvalue / bound);
  return value.with("eigenvalue", eigenvalue)
      .with("bound", bound)
      .with("products", static_cast<double>(pairs.products))
      .with("converged", pairs.converged[0] ? 1.0 : 0.0);
}

}  // namespace

Quantity sharpness(Settings& settings) {
  SpectrumNeed need;
  const std::string matrix =
      settings.choice("curvature", {"hessian", "ggn"}, "which curvature matrix");
  need.kind = matrix == "hessian" ? CurvatureKind::kHessian : CurvatureKind::kGgn;
  need.samples = settings.integer("samples", 0, "first samples of the batch used; 0: all");
  need.tolerance = settings.number("tolerance", need.tolerance, "on the eigenvalue, relative");
  TORCH_CHECK_VALUE(
      need.tolerance > 0, "sharpness: tolerance is ", need.tolerance, "; give a number above 0");
  need.max_products =
      settings.integer("max_products", need.max_products, "products per step at most", 1);
  need.largest = 1;
  need.is_preconditioned = true;
  StepNeeds needs;
  needs.spectrum = need;
  return Quantity("sharpness")
      .summary("Largest eigenvalue of the preconditioned Hessian over what the optimizer bears")
      .reference("Cohen et al. 2021 and 2022: above 1 steps along it grow")
      .needs(needs)
      .cost(Cost::kSpectrum)
      .reads_parameters(true)
      .compute([need](const StepView& step) { return sharpness_value(step, need); });
}

}  // namespace flightdeck::quantities
