// SPDX-License-Identifier: MIT
// Sharpness as the optimizer meets it: the Hessian scaled by rates and preconditioner, against the
// value beyond which its steps would grow.
#include <ATen/ATen.h>

#include "flightdeck/products.h"
#include "flightdeck/quantity.h"
#include "flightdeck/spectra.h"

namespace flightdeck::quantities {
namespace {

// S A S with a diagonal S.
class ScaledOperator final : public LinearOperator {
 public:
  ScaledOperator(const LinearOperator& unscaled, Tensor scale)
      : unscaled_(unscaled), scale_(std::move(scale)) {}
  int64_t dim() const override { return unscaled_.dim(); }
  at::TensorOptions options() const override { return unscaled_.options(); }
  Tensor multiply(const Tensor& vectors) const override {
    return unscaled_.multiply(vectors * scale_) * scale_;
  }

 private:
  const LinearOperator& unscaled_;
  Tensor scale_;  // [D]
};

// Beyond which largest eigenvalue of rate/scale times the Hessian steps along it grow.
double stability_bound(const UpdateRule& rule) {
  const double b = rule.momentum;
  if (rule.averages) return 2 * (1 + b) / (1 - b);
  return rule.is_nesterov ? 2 * (1 + b) / (1 + 2 * b) : 2 * (1 + b);
}

// The square root of rate over scale, for every entry of every parameter.
Tensor root_of_rates(const std::vector<UpdateRule>& rules,
                     const Parameters& parameters,
                     const at::TensorOptions& options) {
  std::vector<Tensor> parts;
  for (size_t p = 0; p < parameters.size(); ++p) {
    const Tensor rates = at::full({parameters[p].tensor.numel()}, rules[p].rate, options);
    parts.push_back(rules[p].scale.defined() ? rates / rules[p].scale.flatten().to(options)
                                             : rates);
  }
  return at::cat(parts).sqrt();
}

struct Sharpness {
  SpectrumNeed need;
  Tensor vectors;  // of the last time
  Value value;

  void look(const GraphView& graph) {
    const std::vector<UpdateRule> rules = graph.update_rules();
    value = Value::none(
        "the optimizer was not told to watch, has made no step yet, or its rule is not known");
    if (rules.empty()) return;
    std::vector<int64_t> samples;
    for (int64_t n = 0; n < std::min(need.samples, graph.step().batch_size()); ++n) {
      samples.push_back(n);
    }
    const auto hessian = curvature_operator(graph.batch().of(samples), need.kind);
    const ScaledOperator scaled(
        *hessian, root_of_rates(rules, graph.step().parameters(), hessian->options()));
    EigenOptions options;
    options.tolerance = need.tolerance;
    options.max_products = need.max_products;
    options.until_proved = false;
    options.seed = static_cast<uint64_t>(graph.step().step());
    options.start = vectors;
    const Eigenpairs pairs = eigenpairs(scaled, options);
    vectors = pairs.is_finite ? pairs.vectors : Tensor();
    const double bound = stability_bound(rules[0]);
    const Tensor eigenvalue = pairs.values[0].to(at::kDouble);
    value = Value(eigenvalue / bound);
    value.with("eigenvalue", eigenvalue)
        .with("bound", bound)
        .with("products", static_cast<double>(pairs.products))
        .with("converged", pairs.converged[0] ? 1.0 : 0.0);
  }
};

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
  return Quantity("sharpness")
      .summary("Largest eigenvalue of the preconditioned Hessian over what the optimizer bears")
      .reference("Cohen et al. 2021 and 2022: above 1 steps along it grow")
      .cost(Cost::kSpectrum)
      .make([need] {
        const auto state = std::make_shared<Sharpness>();
        state->need = need;
        Quantity::Functions functions;
        functions.look = [state](const GraphView& graph) { state->look(graph); };
        functions.compute = [state](const StepView&) { return state->value; };
        return functions;
      });
}

}  // namespace flightdeck::quantities
