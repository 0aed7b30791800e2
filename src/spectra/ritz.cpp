// SPDX-License-Identifier: MIT
#include "spectra/ritz.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include <ATen/ATen.h>

#include "spectra/products.h"

namespace flightdeck {
namespace {

// Rounding of products and projections, in units of machine precision times the norm of A.
constexpr double kRounding = 10;

// From a random start, a pair beyond those seen so far may still be missing, and the gap to it is
// not in r²/gap. Small residuals make that rarer.
constexpr double kColdResiduals = 3;

double largest_modulus(const Tensor& values) { return values.abs().max().item<double>(); }

}  // namespace

Ritz small_eigenpairs(const Tensor& matrix) {
  Ritz ritz;
  std::tie(ritz.values, ritz.coefficients) = at::linalg_eigh((matrix + matrix.t()) * 0.5);
  return ritz;
}

Judge::Judge(const LinearOperator& op, const EigenOptions& options)
    : options_(options),
      dim_(op.dim()),
      precision_(precision_of(op.options().dtype().toScalarType())),
      residual_share_(options.start.size(0) >= wanted() ? std::numeric_limits<double>::infinity()
                                                        : kColdResiduals * options.tolerance) {}

std::vector<int64_t> Judge::positions(int64_t m) const {
  std::vector<int64_t> positions;
  for (int64_t i = 0; i < options_.largest; ++i) positions.push_back(i < m ? m - 1 - i : -1);
  for (int64_t i = 0; i < options_.smallest; ++i) positions.push_back(i < m ? i : -1);
  return positions;
}

Tensor Judge::wanted_values(const Ritz& ritz) const {
  if (ritz.size() < wanted()) return Tensor();
  return ritz.values.index_select(0, at::tensor(positions(ritz.size()), at::kLong));
}

bool Judge::agree(const Tensor& before, const Ritz& ritz) const {
  if (!before.defined()) return false;
  const Tensor values = wanted_values(ritz);
  const double norm = largest_modulus(ritz.values);
  const Tensor sizes = values.abs().clamp_min(options_.floor * norm);
  const Tensor allowed = options_.tolerance * sizes + kRounding * precision_ * norm;
  return ((values - before).abs() <= allowed).all().item<bool>();
}

std::vector<double> Judge::errors(const Ritz& ritz) {
  const int64_t m = ritz.size();
  const auto values = ritz.values.accessor<double, 1>();
  const auto residuals = ritz.residuals.accessor<double, 1>();
  std::vector<double> errors;
  for (int64_t i = 0; i < m; ++i) {
    // Another eigenvalue lies within residuals[j] of values[j], so the gap may be that much smaller
    // than the distance of the values.
    double gap = m > 1 ? std::numeric_limits<double>::infinity() : 0;
    for (int64_t j = 0; j < m; ++j) {
      if (j != i) gap = std::min(gap, std::abs(values[i] - values[j]) - residuals[j]);
    }
    const double r = residuals[i];
    errors.push_back(gap > r ? r * (r / gap) : r);
  }
  return errors;
}

std::vector<bool> Judge::converged(const Ritz& ritz) const {
  const int64_t m = ritz.size();
  // Fewer pairs than wanted, unless they are all there are, leave open which end they belong to.
  if (m == 0 || (m < wanted() && m < dim_)) return std::vector<bool>(wanted(), false);
  const auto values = ritz.values.accessor<double, 1>();
  const auto residuals = ritz.residuals.accessor<double, 1>();
  const std::vector<double> errors = Judge::errors(ritz);
  const double norm = largest_modulus(ritz.values);
  std::vector<bool> converged;
  for (const int64_t i : positions(m)) {
    const double size = std::max(std::abs(values[i]), options_.floor * norm);
    const double rounding = kRounding * precision_ * norm;
    converged.push_back(errors[i] <= options_.tolerance * size + rounding &&
                        (residuals[i] <= rounding || residuals[i] <= residual_share_ * size));
  }
  return converged;
}

bool Judge::nothing_hides(const Ritz& ritz) const {
  const int64_t m = ritz.size();
  const auto values = ritz.values.accessor<double, 1>();
  const auto residuals = ritz.residuals.accessor<double, 1>();
  const double slack = std::max(options_.tolerance * options_.floor, kRounding * precision_) *
                       largest_modulus(ritz.values);
  for (int64_t i = options_.smallest; i < m - options_.largest; ++i) {
    if (options_.largest > 0 && values[i] + residuals[i] > values[m - options_.largest] + slack) {
      return false;
    }
    if (options_.smallest > 0 && values[i] - residuals[i] < values[options_.smallest - 1] - slack) {
      return false;
    }
  }
  return true;
}

Eigenpairs unknown_pairs(const LinearOperator& op, int64_t k) {
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  Eigenpairs pairs;
  pairs.values = at::full({k}, unknown, at::kDouble);
  pairs.residuals = pairs.values.clone();
  pairs.errors = pairs.values.clone();
  pairs.vectors = at::full({k, op.dim()}, unknown, op.options());
  pairs.converged.assign(k, false);
  return pairs;
}

Eigenpairs collect(const LinearOperator& op,
                   const Judge& judge,
                   const Ritz& ritz,
                   const Tensor& lines) {
  Eigenpairs pairs = unknown_pairs(op, judge.wanted());
  if (ritz.size() == 0) return pairs;
  std::vector<int64_t> known, from;
  const std::vector<int64_t> positions = judge.positions(ritz.size());
  for (size_t k = 0; k < positions.size(); ++k) {
    if (positions[k] < 0) continue;
    known.push_back(static_cast<int64_t>(k));
    from.push_back(positions[k]);
  }
  const Tensor to = at::tensor(known, at::kLong), index = at::tensor(from, at::kLong);
  pairs.values.index_copy_(0, to, ritz.values.index_select(0, index));
  pairs.residuals.index_copy_(0, to, ritz.residuals.index_select(0, index));
  const Tensor errors = at::tensor(Judge::errors(ritz), at::kDouble);
  pairs.errors.index_copy_(0, to, errors.index_select(0, index));
  const Tensor coefficients = ritz.coefficients.index_select(1, index).t().to(lines.options());
  pairs.vectors.index_copy_(0, to.to(lines.device()), coefficients.mm(lines));
  pairs.converged = judge.converged(ritz);
  return pairs;
}

}  // namespace flightdeck
