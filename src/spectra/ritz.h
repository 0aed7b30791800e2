// SPDX-License-Identifier: MIT
// Approximate eigenpairs from a subspace: how far off their values are, and which are wanted.
#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

#include "flightdeck/spectra.h"

namespace flightdeck {

// All pairs of a subspace with values in ascending order; float64 on the CPU.
struct Ritz {
  Tensor values;        // [m]
  Tensor residuals;     // [m]
  Tensor coefficients;  // [m, m], a column per pair
  int64_t size() const { return values.defined() ? values.size(0) : 0; }
};

// Eigenvalues and eigenvectors of the symmetric part of a small matrix [m, m], float64 on the CPU.
Ritz small_eigenpairs(const Tensor& matrix);

// Decides for one call of eigenpairs() whether pairs are good enough. `options.start` is [V, D].
class Judge {
 public:
  Judge(const LinearOperator& op, const EigenOptions& options);

  int64_t wanted() const { return options_.largest + options_.smallest; }

  // Positions of the wanted pairs among m: the largest, descending, then the smallest, ascending;
  // -1 where m is too small.
  std::vector<int64_t> positions(int64_t m) const;

  // Their values; undefined where there are too few.
  Tensor wanted_values(const Ritz& ritz) const;

  // True if these wanted values, from before, are those of the pairs to the tolerance.
  bool agree(const Tensor& before, const Ritz& ritz) const;

  // Estimates |value - eigenvalue| for every pair: min(r, r²/gap).
  static std::vector<double> errors(const Ritz& ritz);

  // Per wanted pair, in the order of positions().
  std::vector<bool> converged(const Ritz& ritz) const;

  // True if no unwanted pair could, by its residual, turn out to be beyond the wanted ones.
  bool nothing_hides(const Ritz& ritz) const;

 private:
  const EigenOptions& options_;
  int64_t dim_;
  double precision_;
  double residual_share_;  // how large residuals may be, in units of the value
};

// A result of k pairs that says NaN everywhere.
Eigenpairs unknown_pairs(const LinearOperator& op, int64_t k);

// Fills values, residuals, errors, flags and vectors from the pairs of a subspace; rows of `lines`
// [m, D] are what the coefficients refer to. Counters are the caller's.
Eigenpairs collect(const LinearOperator& op,
                   const Judge& judge,
                   const Ritz& ritz,
                   const Tensor& lines);

}  // namespace flightdeck
