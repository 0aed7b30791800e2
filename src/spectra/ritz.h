// SPDX-License-Identifier: MIT
// Approximate eigenpairs from a subspace: how far off their values are, and which are wanted.
#pragma once

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

#include "flightdeck/spectra.h"

namespace flightdeck {

// Holds all pairs of a subspace with values in ascending order; float64 on the CPU.
struct Ritz {
  Tensor values;        // [m]
  Tensor residuals;     // [m]
  Tensor coefficients;  // [m, m], a column per pair
  // A KrylovSpace with f pending lines and V probes also sets:
  Tensor below;     // [f, m], residuals by pending line
  Tensor probed;    // [m, V], probes by pair
  Tensor unprobed;  // [f, V], the rest of the probes, by pending line
  int64_t size() const { return values.defined() ? values.size(0) : 0; }
};

// Returns eigenvalues and eigenvectors of the symmetric part of a small matrix [m, m], float64 on
// the CPU.
Ritz small_eigenpairs(const Tensor& matrix);

// Tells where the wanted pairs are, and how large they count.
class Wanted {
 public:
  Wanted(const LinearOperator& op, const EigenOptions& options);

  int64_t count() const { return options_.largest + options_.smallest; }

  // Returns the positions of the wanted pairs among m: the largest, descending, then the smallest,
  // ascending; -1 where m is too small.
  std::vector<int64_t> positions(int64_t m) const;

  // Return a wanted pair's value and by how much that may be off. `pair` counts in the order of
  // positions(), and there have to be enough pairs.
  double value(const Ritz& ritz, size_t pair) const;
  double allowed_error(const Ritz& ritz, size_t pair) const;

 private:
  const EigenOptions& options_;
  double precision_;
};

// Bounds the errors of Ritz values from random lines.
//
// A Ritz value never lies beyond the eigenvalue it stands for, so the question is whether the
// subspace has missed one further out. Take an eigenvector v of an eigenvalue t, a probe r = Q' y +
// F' z and A Q' = Q' T + F' B. Then F v = u implies Q v = (t - T)^-1 B' u, and
//   r·v = u·G(t),  G(t) = B (t - T)^-1 y + z:
// |G(t)| bounds what the probe can have of v. A line that is random, or has a random share, has
// more than that of any vector with a probability that is known; that fails for all subspaces grown
// from it or for none, so that looking after every product costs nothing. After a restart the
// pending lines are the next probes, and the bounds multiply. For the p-th pair of an end the p - 1
// beyond it are left out of T, and p probes are needed (docs/decisions/0030).
class Judge {
 public:
  // `probes` lines with at least the `random_share` of their length random.
  Judge(const LinearOperator& op, const EigenOptions& options, int64_t probes, double random_share);

  // Tell for each wanted pair whether its value is as close to the eigenvalue as is allowed, and
  // how close. They are wrong one time in two thousand. `stages` is the subspace as it was at every
  // restart and, last, as it is; a second random line after an invariant span begins anew.
  std::vector<bool> converged(const std::vector<Ritz>& stages) const;
  std::vector<double> errors(const std::vector<Ritz>& stages) const;

 private:
  // Returns true if the span is the whole space, or A does not lead out of it.
  bool is_exact(const Ritz& ritz) const {
    return ritz.size() == dim_ || (ritz.size() >= wanted_.count() && ritz.below.size(0) == 0);
  }
  // Returns true if no eigenvalue that the pair should stand for is that far beyond its value.
  bool is_excluded(const std::vector<Ritz>& stages, size_t pair, double distance) const;
  // Returns true if none is that far or farther.
  bool is_within(const std::vector<Ritz>& stages, size_t pair, double distance) const;

  const EigenOptions& options_;
  Wanted wanted_;
  int64_t dim_;
  double least_probed_;  // what the probes have of a vector at least
};

// Makes a result of k pairs that says NaN everywhere.
Eigenpairs unknown_pairs(const LinearOperator& op, int64_t k);

// Fills values, residuals and vectors from the pairs of a subspace; rows of `lines` [m, D] are what
// the coefficients refer to. Flags and counters are the caller's.
Eigenpairs collect(const LinearOperator& op,
                   const Wanted& wanted,
                   const Ritz& ritz,
                   const Tensor& lines);

}  // namespace flightdeck
