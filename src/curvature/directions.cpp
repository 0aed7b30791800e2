// SPDX-License-Identifier: MIT
// Which eigenpairs are meant, and how much each of their directions is damped.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <ATen/ATen.h>

#include "flightdeck/vivit.h"

namespace flightdeck {
namespace {

std::vector<int64_t> leading(int64_t count, int64_t available) {
  TORCH_CHECK_VALUE(count <= available,
                    "vivit: ",
                    count,
                    " eigenvectors asked for but the GGN has rank ",
                    available,
                    "; ask for at most that many");
  std::vector<int64_t> positions(count < 0 ? available : count);
  std::iota(positions.begin(), positions.end(), int64_t{0});
  return positions;
}

void check_positions(const std::vector<int64_t>& positions, int64_t available) {
  std::vector<bool> is_named(available, false);
  for (int64_t k : positions) {
    TORCH_CHECK_INDEX(k >= 0 && k < available,
                      "vivit: eigenvector ",
                      k,
                      " asked for but the GGN has rank ",
                      available,
                      "; count from 0, the leading one, to ",
                      available - 1);
    TORCH_CHECK_VALUE(!is_named[k], "vivit: eigenvector ", k, " is named twice; name it once");
    is_named[k] = true;
  }
}

// Returns an unbiased estimate of the variance of the mean over the lines, [count].
Tensor variance_of_mean(const Tensor& per_sample, const char* name) {
  TORCH_CHECK_VALUE(
      per_sample.dim() == 2 && per_sample.size(0) > 1,
      "noise damping: ",
      name,
      " have shape ",
      per_sample.sizes(),
      " but noise is seen in [N, count] of at least two samples; take a larger batch");
  return per_sample.var(0, /*unbiased=*/true) / static_cast<double>(per_sample.size(0));
}

}  // namespace

Directions::Directions(int64_t count)
    : choose_([count](const Tensor& values) { return leading(count, values.numel()); }) {}

Directions Directions::at(std::vector<int64_t> positions) {
  return Directions(Choose([positions = std::move(positions)](const Tensor& values) {
    check_positions(positions, values.numel());
    return positions;
  }));
}

Directions Directions::within(double low, double high) {
  TORCH_CHECK_VALUE(low <= high,
                    "vivit: eigenvalues from ",
                    low,
                    " to ",
                    high,
                    " asked for; give the lower end first");
  return where([low, high](double value) { return value >= low && value <= high; });
}

Directions Directions::where(std::function<bool(double)> is_wanted) {
  return Directions(Choose([is_wanted = std::move(is_wanted)](const Tensor& values) {
    const Tensor numbers = values.to(at::kCPU, at::kDouble).contiguous();
    std::vector<int64_t> positions;
    for (int64_t k = 0; k < numbers.numel(); ++k) {
      if (is_wanted(numbers.data_ptr<double>()[k])) positions.push_back(k);
    }
    return positions;
  }));
}

std::vector<int64_t> Directions::positions(const Tensor& eigenvalues) const {
  return choose_(eigenvalues);
}

Tensor noise_damping(const Tensor& gammas,
                     const Tensor& lambdas,
                     const NoiseDampingOptions& options) {
  TORCH_CHECK_VALUE(options.damping >= 0 && options.caution >= 0,
                    "noise damping: options.damping is ",
                    options.damping,
                    " and options.caution ",
                    options.caution,
                    "; neither may be negative");
  TORCH_CHECK_VALUE(gammas.dim() == 2 && lambdas.dim() == 2 && gammas.size(1) == lambdas.size(1),
                    "noise damping: gammas have shape ",
                    gammas.sizes(),
                    " and lambdas ",
                    lambdas.sizes(),
                    "; ask one Vivit for both, along the same directions");
  // Doubles are needed here: the ratio of two small numbers decides.
  const Tensor slopes = gammas.to(at::kDouble), curvatures = lambdas.to(at::kDouble);
  const Tensor noise = variance_of_mean(slopes, "gammas");
  const Tensor ratio = noise / slopes.mean(0).square();
  // Where no sample has a slope, there is no noise either: 0 / 0 counts as 0.
  const Tensor of_slopes = at::where(noise > 0, ratio, at::zeros_like(ratio));
  const Tensor of_curvatures = variance_of_mean(curvatures, "lambdas").sqrt();
  return (curvatures.mean(0) * of_slopes)
      .add_(of_curvatures, options.caution)
      .add_(options.damping)
      .to(gammas.scalar_type());
}

}  // namespace flightdeck
