// SPDX-License-Identifier: MIT
#include "quantities/extreme_eigenvalue.h"

#include <cmath>
#include <utility>

#include <ATen/ATen.h>

namespace flightdeck {
namespace {

// A caller who asks for so many digits wants to rely on them.
constexpr double kToleranceOfDigits = 1e-3;

// The pairs may hold more than was asked for: the other end, for another quantity.
int64_t position_of_end(const Tensor& values, SpectrumEnd end) {  // [k], float64 on the CPU
  const double* value = values.data_ptr<double>();
  int64_t best = 0;
  for (int64_t k = 1; k < values.numel(); ++k) {
    const bool is_further =
        end == SpectrumEnd::kLargest ? value[k] > value[best] : value[k] < value[best];
    if (is_further || std::isnan(value[best])) best = k;
  }
  return best;
}

Value from_products(const StepView& step, const SpectrumNeed& need, SpectrumEnd end) {
  const Eigenpairs& pairs = step.spectrum(need);
  const Tensor values = pairs.values.to(at::kCPU, at::kDouble).contiguous();
  const Tensor residuals = pairs.residuals.to(at::kCPU, at::kDouble).contiguous();
  const int64_t k = position_of_end(values, end);
  Value value(values.data_ptr<double>()[k]);
  value.with("iterations", static_cast<double>(pairs.iterations));
  value.with("products", static_cast<double>(pairs.products));
  value.with("residual", residuals.data_ptr<double>()[k]);
  value.with("converged", pairs.converged[k] ? 1.0 : 0.0);
  return value;
}

// The sampled GGN has rank N M at most: its Gram matrix gives all eigenvalues at once.
Value from_samples(const StepView& step, const VivitNeed& need, SpectrumEnd end) {
  const Tensor values = step.vivit(need).gram_eigenvalues();  // descending
  if (end == SpectrumEnd::kLargest) return Value(values.select(0, 0));
  int64_t entries = 0;
  for (const NamedParameter& parameter : step.parameters()) entries += parameter.tensor.numel();
  if (values.numel() < entries) return Value(0.0);
  return Value(values.select(0, entries - 1));
}

}  // namespace

void set_extreme_eigenvalue(Quantity& quantity, Settings& settings, SpectrumEnd end) {
  SpectrumNeed spectrum;
  VivitNeed sampled;
  const std::string matrix =
      settings.choice("curvature", {"hessian", "ggn", "ggn_mc"}, "which curvature matrix");
  spectrum.kind = matrix == "hessian" ? CurvatureKind::kHessian : CurvatureKind::kGgn;
  spectrum.samples = settings.integer("samples", 0, "first samples of the batch used; 0: all");
  spectrum.tolerance =
      settings.number("tolerance", spectrum.tolerance, "on the eigenvalue, relative");
  spectrum.max_products =
      settings.integer("max_products", spectrum.max_products, "products per step at most", 1);
  // A proof takes some twenty to a hundred products at every tracked step, a value three to ten.
  std::vector<std::string> ends = {"settled", "proved"};
  if (spectrum.tolerance < kToleranceOfDigits) std::swap(ends[0], ends[1]);
  spectrum.until_proved =
      settings.choice("until",
                      ends,
                      "when to stop: the value stands still, or its error is proved; the first "
                      "step always goes for the proof") == "proved";
  TORCH_CHECK_VALUE(spectrum.tolerance > 0,
                    quantity.name(),
                    ": tolerance is ",
                    spectrum.tolerance,
                    "; give a number above 0");
  (end == SpectrumEnd::kLargest ? spectrum.largest : spectrum.smallest) = 1;
  sampled.samples = spectrum.samples;
  sampled.columns = LossColumns::kSampled;
  sampled.mc_samples =
      settings.integer("mc_samples", 1, "ggn_mc: would-be gradients per sample", 1);

  StepNeeds needs;
  if (matrix == "ggn_mc") {
    needs.vivit = sampled;
    quantity.needs(needs).cost(Cost::kCurvature);
    quantity.compute([=](const StepView& step) { return from_samples(step, sampled, end); });
    return;
  }
  needs.spectrum = spectrum;
  quantity.needs(needs).cost(Cost::kSpectrum);
  quantity.compute([=](const StepView& step) { return from_products(step, spectrum, end); });
}

}  // namespace flightdeck
