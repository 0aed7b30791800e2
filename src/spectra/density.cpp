// SPDX-License-Identifier: MIT
// Stochastic Lanczos quadrature: for a random unit vector q, the eigenpairs (theta, s) of the
// Lanczos matrix are a Gauss rule for the spectral measure q' f(A) q with weights s_1².
#include <algorithm>
#include <cmath>
#include <limits>

#include <ATen/ATen.h>

#include "flightdeck/spectra.h"
#include "spectra/krylov.h"
#include "spectra/products.h"

namespace flightdeck {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
constexpr double kPi = 3.14159265358979323846;
// A grid of our own reaches so far beyond the nodes: a Gaussian leaves 3e-7 outside.
constexpr double kReach = 5;

void check_options(const DensityOptions& options) {
  TORCH_CHECK_VALUE(options.starts > 0 && options.steps > 0 && options.points > 1,
                    "spectral density: starts is ",
                    options.starts,
                    ", steps is ",
                    options.steps,
                    " and points is ",
                    options.points,
                    "; pass at least 1, 1 and 2");
  TORCH_CHECK_VALUE(options.width >= 0,
                    "spectral density: width is ",
                    options.width,
                    "; pass 0 for the default or a standard deviation");
  TORCH_CHECK_VALUE(!(options.low >= options.high),
                    "spectral density: the grid runs from ",
                    options.low,
                    " to ",
                    options.high,
                    "; pass low below high");
}

// Writes nodes and weights of one start to the front of lines that hold zeros.
bool fill_rule(const LinearOperator& op,
               const Tensor& start,
               int64_t& products,
               Tensor nodes,      // [steps]
               Tensor weights) {  // [steps]
  const int64_t steps = nodes.size(0);
  KrylovSpace space(op, std::min(op.dim(), steps + 1));
  space.add(start);
  while (space.size() < steps && space.pending() > 0) {
    const bool is_finite = space.expand(1);
    ++products;
    if (!is_finite) return false;
  }
  const Ritz ritz = space.ritz();
  nodes.slice(0, 0, ritz.size()).copy_(ritz.values);
  weights.slice(0, 0, ritz.size()).copy_(ritz.coefficients[0].square());
  return true;
}

void smooth(SpectralDensity& density, const DensityOptions& options) {
  // The zeros after a start that ended early have no weight and must not stretch the grid.
  const Tensor chosen = (density.weights > 0).nonzero();
  const Tensor nodes = density.nodes.index({chosen.select(1, 0), chosen.select(1, 1)});
  const Tensor weights = density.weights.index({chosen.select(1, 0), chosen.select(1, 1)});
  const double first = nodes.min().item<double>(), last = nodes.max().item<double>();
  // A spectrum of one value has no range.
  const double size = std::max(std::abs(first), std::abs(last));
  const double fallback = size > 0 ? 1e-3 * size : 1e-6;
  density.width = options.width > 0 ? options.width : std::max(0.01 * (last - first), fallback);
  const double reach = kReach * density.width;
  const double low = std::isnan(options.low) ? first - reach : options.low;
  const double high = std::isnan(options.high) ? last + reach : options.high;
  density.grid = at::linspace(low, high, options.points, at::kDouble);
  const Tensor distance = (density.grid.unsqueeze(1) - nodes) / density.width;
  const Tensor bells = distance.square().mul(-0.5).exp() / (density.width * std::sqrt(2 * kPi));
  density.density = bells.mv(weights) / static_cast<double>(options.starts);
}

}  // namespace

double SpectralDensity::moment(int64_t power) const {
  return (weights * nodes.pow(power)).sum(1).mean().item<double>();
}

SpectralDensity spectral_density(const LinearOperator& op, const DensityOptions& options) {
  const ArithmeticGuard guard;
  check_operator("spectral density", op);
  check_options(options);
  RandomLines random(op, options.seed);
  SpectralDensity density;
  density.nodes = at::zeros({options.starts, options.steps}, at::kDouble);
  density.weights = at::zeros({options.starts, options.steps}, at::kDouble);
  for (int64_t v = 0; v < options.starts && density.is_finite; ++v) {
    density.is_finite =
        fill_rule(op, random.normal(1), density.products, density.nodes[v], density.weights[v]);
  }
  if (density.is_finite) {
    smooth(density, options);
  } else {
    density.nodes.fill_(kUnknown);
    density.weights.fill_(kUnknown);
    density.grid = at::full({options.points}, kUnknown, at::kDouble);
    density.density = density.grid.clone();
  }
  return density;
}

}  // namespace flightdeck
