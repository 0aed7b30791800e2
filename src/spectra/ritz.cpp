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

// What rounding does to a value, in units of machine precision times the norm of A. It is some
// times what a KrylovSpace takes for zero.
constexpr double kRounding = 100;

// The probability with which a value may claim an error that is too small. To lower it by a factor
// of ten costs about as much accuracy as one product more gains.
constexpr double kRisk = 5e-4;

// Errors are told in factors of two, between the allowed one divided and multiplied by this.
constexpr double kErrorRange = 1 << 20;

// An eigenvalue that exceeds the largest value by more than this factor would have shown in a few
// products.
constexpr double kFarNorms = 16;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

using SmallMatrix = std::vector<std::vector<double>>;

// Multiplies G(t) of pairs [first, last), see Judge, with a matrix of V lines. It is written out,
// as there may be hundreds of restarts to go through after every product.
SmallMatrix times_probes(
    const Ritz& ritz, int64_t first, int64_t last, double t, const SmallMatrix& right) {
  const auto values = ritz.values.accessor<double, 1>();
  const auto below = ritz.below.accessor<double, 2>();
  const auto probed = ritz.probed.accessor<double, 2>();
  const auto unprobed = ritz.unprobed.accessor<double, 2>();
  const int64_t lines = below.size(0), probes = probed.size(1);
  SmallMatrix result(lines, std::vector<double>(right[0].size(), 0));
  for (size_t column = 0; column < right[0].size(); ++column) {
    const auto dot = [&](const auto& line) {
      double sum = 0;
      for (int64_t v = 0; v < probes; ++v) sum += line[v] * right[v][column];
      return sum;
    };
    for (int64_t f = 0; f < lines; ++f) result[f][column] = dot(unprobed[f]);
    for (int64_t i = first; i < last; ++i) {
      const double share = dot(probed[i]) / (t - values[i]);
      for (int64_t f = 0; f < lines; ++f) result[f][column] += below[f][i] * share;
    }
  }
  return result;
}

double norm_of(const SmallMatrix& matrix) {
  double sum = 0;
  for (const std::vector<double>& line : matrix) {
    for (const double entry : line) sum += entry * entry;
  }
  return std::sqrt(sum);
}

SmallMatrix unit_matrix(int64_t size) {
  SmallMatrix unit(size, std::vector<double>(size, 0));
  for (int64_t i = 0; i < size; ++i) unit[i][i] = 1;
  return unit;
}

}  // namespace

Ritz small_eigenpairs(const Tensor& matrix) {
  Ritz ritz;
  std::tie(ritz.values, ritz.coefficients) = at::linalg_eigh((matrix + matrix.t()) * 0.5);
  return ritz;
}

// ---- wanted pairs -------------------------------------------------------------------------------

Wanted::Wanted(const LinearOperator& op, const EigenOptions& options)
    : options_(options), precision_(precision_of(op.options().dtype().toScalarType())) {}

std::vector<int64_t> Wanted::positions(int64_t m) const {
  std::vector<int64_t> positions;
  for (int64_t i = 0; i < options_.largest; ++i) positions.push_back(i < m ? m - 1 - i : -1);
  for (int64_t i = 0; i < options_.smallest; ++i) positions.push_back(i < m ? i : -1);
  return positions;
}

double Wanted::value(const Ritz& ritz, size_t pair) const {
  return ritz.values[positions(ritz.size())[pair]].item<double>();
}

double Wanted::allowed_error(const Ritz& ritz, size_t pair) const {
  const double norm = ritz.values.abs().max().item<double>();
  const double size = std::max(std::abs(value(ritz, pair)), options_.floor * norm);
  // The eigenvalue may be smaller than the value by the error.
  return std::max(options_.tolerance / (1 + options_.tolerance) * size,
                  kRounding * precision_ * norm);
}

// ---- errors -------------------------------------------------------------------------------------

Judge::Judge(const LinearOperator& op,
             const EigenOptions& options,
             int64_t probes,
             double random_share)
    : options_(options), wanted_(op, options), dim_(op.dim()) {
  // A coordinate of a random direction has density sqrt(D / 2 pi) at most, at zero or beside what
  // is not random. For p pairs the least singular value of a square Gaussian matrix stands for it,
  // which falls below x / sqrt(p D) about as rarely.
  const double density = std::sqrt(2 * static_cast<double>(dim_) / M_PI) * probes;
  least_probed_ = kRisk * random_share / density;
}

bool Judge::is_excluded(const std::vector<Ritz>& stages, size_t pair, double distance) const {
  const auto largest = static_cast<size_t>(options_.largest);
  const bool is_upper = pair < largest;
  const auto beyond = static_cast<int64_t>(is_upper ? pair : pair - largest);
  const double value = wanted_.value(stages.back(), pair);
  const double t = is_upper ? value + distance : value - distance;
  SmallMatrix factors = unit_matrix(stages.front().probed.size(1));
  for (const Ritz& stage : stages) {
    if (stage.below.size(0) == 0) return true;  // the span is invariant
    const int64_t first = is_upper ? 0 : beyond, last = stage.size() - (is_upper ? beyond : 0);
    factors = times_probes(stage, first, last, t, factors);
  }
  return norm_of(factors) <= least_probed_;
}

bool Judge::is_within(const std::vector<Ritz>& stages, size_t pair, double distance) const {
  const double far = kFarNorms * stages.back().values.abs().max().item<double>();
  if (distance == 0) return false;
  do {
    if (!is_excluded(stages, pair, distance)) return false;
    distance *= 2;
  } while (distance < far);
  return true;
}

std::vector<double> Judge::errors(const std::vector<Ritz>& stages) const {
  std::vector<double> errors(wanted_.count(), kInfinity);
  if (is_exact(stages.back())) errors.assign(errors.size(), 0);
  if (is_exact(stages.back()) || stages.back().size() < wanted_.count()) return errors;
  for (size_t k = 0; k < errors.size(); ++k) {
    const double allowed = wanted_.allowed_error(stages.back(), k);
    const double most = allowed * kErrorRange;
    double error = allowed / kErrorRange;
    while (error < most && !is_within(stages, k, error)) error *= 2;
    if (error < most) errors[k] = error;
  }
  return errors;
}

std::vector<bool> Judge::converged(const std::vector<Ritz>& stages) const {
  std::vector<bool> converged(wanted_.count(), is_exact(stages.back()));
  if (is_exact(stages.back()) || stages.back().size() < wanted_.count()) return converged;
  for (size_t k = 0; k < converged.size(); ++k) {
    converged[k] = is_within(stages, k, wanted_.allowed_error(stages.back(), k));
  }
  return converged;
}

// ---- results ------------------------------------------------------------------------------------

Eigenpairs unknown_pairs(const LinearOperator& op, int64_t k) {
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  Eigenpairs pairs;
  pairs.values = at::full({k}, unknown, at::kDouble);
  pairs.residuals = pairs.values.clone();
  pairs.errors = at::full({k}, kInfinity, at::kDouble);
  pairs.vectors = at::full({k, op.dim()}, unknown, op.options());
  pairs.converged.assign(k, false);
  return pairs;
}

Eigenpairs collect(const LinearOperator& op,
                   const Wanted& wanted,
                   const Ritz& ritz,
                   const Tensor& lines) {
  Eigenpairs pairs = unknown_pairs(op, wanted.count());
  if (ritz.size() == 0) return pairs;
  std::vector<int64_t> known, from;
  const std::vector<int64_t> positions = wanted.positions(ritz.size());
  for (size_t k = 0; k < positions.size(); ++k) {
    if (positions[k] < 0) continue;
    known.push_back(static_cast<int64_t>(k));
    from.push_back(positions[k]);
  }
  const Tensor to = at::tensor(known, at::kLong), index = at::tensor(from, at::kLong);
  pairs.values.index_copy_(0, to, ritz.values.index_select(0, index));
  pairs.residuals.index_copy_(0, to, ritz.residuals.index_select(0, index));
  const Tensor coefficients = ritz.coefficients.index_select(1, index).t().to(lines.options());
  pairs.vectors.index_copy_(0, to.to(lines.device()), coefficients.mm(lines));
  return pairs;
}

}  // namespace flightdeck
