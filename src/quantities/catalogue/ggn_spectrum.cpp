// SPDX-License-Identifier: MIT
// The GGN's leading eigenvalues, and how reliably the batch knows slope and curvature along them.
#include <algorithm>

#include <ATen/ATen.h>

#include "flightdeck/quantity.h"
#include "rows/form.h"
#include "rows/rounding.h"

namespace flightdeck::quantities {
namespace {

// Returns the relative rounding error of a ratio of squared mean to variance. The variance is a
// scatter like others.
Tensor rounding_share(const Tensor& ratio, const StepView& step, const VivitNeed& need) {
  const int64_t all = step.batch_size();
  const int64_t N = need.samples > 0 ? std::min(need.samples, all) : all;
  const double rounding =
      rounding_of_rows(machine_epsilon(step.parameters()[0].tensor.scalar_type()));
  const Tensor scatter = double(N - 1) / ratio.to(at::kDouble);
  const Tensor length = at::ones_like(scatter);
  return rounding_error(scatter, length, length * (rounding * rounding), N) / scatter;
}

Value ggn_spectrum_value(const StepView& step, const VivitNeed& need, int64_t count) {
  const Vivit& vivit = step.vivit(need);
  const int64_t listed = std::min(count, vivit.rank());
  Value value(vivit.gram_eigenvalues().select(0, 0));
  value.with_list("eigenvalues", vivit.eigenvalues().slice(0, 0, listed).to(at::kDouble));
  if (listed == 0) return value;
  const Tensor slope = Vivit::signal_to_noise(vivit.gammas(listed));
  const Tensor curvature = Vivit::signal_to_noise(vivit.lambdas(listed));
  value.with_list("slope_snr", slope.to(at::kDouble));
  value.with_list("curvature_snr", curvature.to(at::kDouble));
  return value.with_rounding(rounding_share(at::maximum(slope.max(), curvature.max()), step, need));
}

}  // namespace

Quantity ggn_spectrum(Settings& settings) {
  const int64_t count = settings.integer("count", 10, "how many eigenvalues are listed", 1);
  VivitNeed need;
  need.samples = settings.integer("samples", 16, "first samples of the batch used; 0: all");
  const std::string matrix = settings.choice("curvature", {"ggn", "ggn_mc"}, "exact or sampled");
  need.columns = matrix == "ggn" ? LossColumns::kExact : LossColumns::kSampled;
  need.mc_samples = settings.integer("mc_samples", 1, "ggn_mc: would-be gradients per sample", 1);
  need.gradients = true;
  StepNeeds needs;
  needs.vivit = need;
  return Quantity("ggn_spectrum")
      .summary("Largest GGN eigenvalues with the signal-to-noise of slope and curvature")
      .reference("ViViT: eigenvalues of the Gram matrix, signal-to-noise of gamma and lambda")
      .needs(needs)
      .cost(Cost::kCurvature)
      .compute(
          [need, count](const StepView& step) { return ggn_spectrum_value(step, need, count); });
}

}  // namespace flightdeck::quantities
