// SPDX-License-Identifier: MIT
// What products alone tell about a symmetric operator: the ends of its spectrum, its density, trace
// and diagonal, and solutions of linear systems.
//
// Everything here draws from a generator of its own, set by `seed`; LibTorch's generators are left
// alone. A product counts per vector: multiply([V, D]) is V products. Vectors have the operator's
// type and device; numbers per vector are float64 on the CPU. Products that are not finite end the
// computation with `is_finite` false: they never throw.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include <ATen/core/Tensor.h>

#include "flightdeck/operator.h"

namespace flightdeck {

// ---- eigenpairs ---------------------------------------------------------------------------------

enum class EigenMethod {
  kAuto,     ///< Lanczos
  kLanczos,  ///< block Lanczos with full re-orthogonalisation and thick restarts
  kLobpcg,   ///< locally optimal blocks, and Lanczos to see what they missed: less memory, more
             ///< products
};

struct EigenOptions {
  int64_t largest = 1;   ///< how many pairs from the upper end (algebraically)
  int64_t smallest = 0;  ///< how many from the lower end
  /// A pair has converged when its value is within tolerance * |eigenvalue| of the eigenvalue, the
  /// i-th from its end with copies counted, whatever the spectrum and the start: for any one
  /// question all but one seed in two thousand keep that promise. A hundred units of rounding of
  /// max|value| are always allowed: 2e-14 of it, in float32 1e-5.
  double tolerance = 1e-3;
  /// Eigenvalues below floor * max|value| are judged as if they were that large.
  double floor = 1e-4;
  int64_t max_products = 200;
  /// Lanczos: false stops too when the last iteration (of at least three) changed no wanted value
  /// by more than half of what the tolerance allows. For values that need not be sharper than what
  /// they are compared with: they have not converged, unless that was proved on the way.
  bool until_proved = true;
  /// Lanczos: vectors kept before a restart. 0 stands for 30 + 2 (largest + smallest + block), and
  /// for up to 100 where these take 64 MiB at most.
  int64_t max_basis = 0;
  /// Lanczos: vectors multiplied at once; at least as many as pairs are wanted from one end.
  int64_t block = 0;
  EigenMethod method = EigenMethod::kAuto;
  /// Where to begin, [D] or [V, D]: eigenvectors of an operator that has moved a little since.
  /// Lines that are zero or not finite are skipped, and those beyond the block are added to its
  /// first. Undefined means random lines. A start makes values better that the budget cuts short;
  /// the proof that no eigenvalue was missed takes its products from any start.
  Tensor start;
  /// Of the random lines, and of what is added to the start. Change it from call to call.
  uint64_t seed = 0;
};

/// The `largest` pairs in descending order, then the `smallest` in ascending order.
struct Eigenpairs {
  Tensor values;     ///< [k]; NaN for pairs that the budget did not reach
  Tensor vectors;    ///< [k, D], orthonormal lines
  Tensor residuals;  ///< [k], ||A v - value v||; an eigenvalue lies that close to the value
  Tensor errors;     ///< [k], the bound that was held against the tolerance, up to a factor of two;
                     ///< infinite where nothing is known
  std::vector<bool> converged;
  int64_t products = 0;
  int64_t iterations = 0;  ///< calls of multiply
  bool is_finite = true;   ///< false if a product was not; the pairs are those from before it

  bool all_converged() const;
};

/// Returns pairs at the ends of the spectrum. Values are never beyond the eigenvalues they stand
/// for, but for rounding. Pairs that did not converge within the budget carry the flag false.
/// Throws if more than D pairs are asked for at one end.
[[nodiscard]] Eigenpairs eigenpairs(const LinearOperator& op, const EigenOptions& options = {});

// ---- density ------------------------------------------------------------------------------------

struct DensityOptions {
  int64_t starts = 4;  ///< random vectors; the error falls with 1 / sqrt(starts D)
  int64_t steps = 40;  ///< Lanczos steps per start; memory is that many vectors
  int64_t points = 512;
  /// Standard deviation of the Gaussian that stands for a node. 0 means 1% of the nodes' range.
  double width = 0;
  /// Ends of the grid. NaN means the outermost nodes and five widths more.
  double low = std::numeric_limits<double>::quiet_NaN();
  double high = std::numeric_limits<double>::quiet_NaN();
  uint64_t seed = 0;
};

/// The distribution of the eigenvalues, each with weight 1/D.
struct SpectralDensity {
  Tensor grid;     ///< [points]
  Tensor density;  ///< [points]; integrates to one where the grid covers all nodes
  Tensor nodes;    ///< [starts, steps]
  Tensor weights;  ///< [starts, steps]; a line sums to one. A start that ended early has zeros.
  double width = 0;
  int64_t products = 0;
  bool is_finite = true;  ///< false leaves NaN everywhere

  /// (1/D) Tr A^power as the quadrature sees it: (1/starts) sum of weights * nodes^power.
  double moment(int64_t power) const;
};

/// Stochastic Lanczos quadrature with full re-orthogonalisation.
[[nodiscard]] SpectralDensity spectral_density(const LinearOperator& op,
                                               const DensityOptions& options = {});

// ---- trace and diagonal -------------------------------------------------------------------------

enum class TraceMethod {
  kHutchinson,     ///< mean of z'Az over random signs; memory of one block
  kHutchPlusPlus,  ///< exact on a random range of A, Hutchinson on the rest
  kXTrace,         ///< every vector serves for the range and, left out of it, for the rest
};

struct TraceOptions {
  /// At most so many products. If D of them are allowed the result is exact, at D products.
  int64_t products = 30;
  TraceMethod method = TraceMethod::kXTrace;
  int64_t block = 16;  ///< vectors multiplied at once
  uint64_t seed = 0;
};

struct Estimate {
  double value = std::numeric_limits<double>::quiet_NaN();
  /// Of the value. NaN where one sample tells nothing about the spread.
  double standard_error = std::numeric_limits<double>::quiet_NaN();
  int64_t products = 0;
  bool exact = false;
  bool is_finite = true;
};

/// Estimates Tr A without bias. Hutchinson needs one product, XTrace two, Hutch++ three. XTrace and
/// Hutch++ keep `products` and two thirds of `products` vectors, and are exact to rounding where
/// the rank of A is below a half and a third of the products.
[[nodiscard]] Estimate trace(const LinearOperator& op, const TraceOptions& options = {});

enum class DiagonalMethod {
  kHutchinson,  ///< mean of z * Az over random signs
  kXDiag,       ///< as kXTrace, per entry
};

struct DiagonalOptions {
  int64_t products = 30;  ///< as for the trace
  DiagonalMethod method = DiagonalMethod::kHutchinson;
  int64_t block = 16;  ///< vectors multiplied at once
  uint64_t seed = 0;
};

struct DiagonalEstimate {
  Tensor value;           ///< [D]
  Tensor standard_error;  ///< [D]; NaN for a single sample
  int64_t products = 0;
  bool exact = false;
  bool is_finite = true;
};

/// Estimates the diagonal of A without bias. Hutchinson needs one product, XDiag two.
[[nodiscard]] DiagonalEstimate diagonal(const LinearOperator& op,
                                        const DiagonalOptions& options = {});

// ---- linear systems -----------------------------------------------------------------------------

struct SolveOptions {
  double tolerance = 1e-6;  ///< on ||b - A x|| / ||b||
  int64_t max_iterations = 100;
  Tensor start;                                    ///< [V, D]; undefined means zero
  const LinearOperator* preconditioner = nullptr;  ///< close to the inverse of A, positive definite
};

struct Solution {
  Tensor vectors;    ///< [V, D]
  Tensor residuals;  ///< [V], ||b - A x|| / ||b||; 0 for b = 0
  std::vector<int64_t> iterations;
  std::vector<bool> converged;
  /// Lines where a direction p with p'Ap <= 0 was met, so that A is not positive definite, or a
  /// residual r with r'Mr <= 0 for the preconditioner M. The solution is the one from before.
  std::vector<bool> negative_curvature;
  int64_t products = 0;
  bool is_finite = true;  ///< false if a product was not; its lines are those from before it

  bool all_converged() const;
};

/// Solves A x = b for every line b of right_hand_sides [V, D] (or [D], taken as one line) by
/// conjugate gradients. A line that claims to have converged is checked with one product more.
[[nodiscard]] Solution conjugate_gradients(const LinearOperator& op,
                                           const Tensor& right_hand_sides,
                                           const SolveOptions& options = {});

// ---- subspaces ----------------------------------------------------------------------------------

/// Tr(P_U P_V) / sqrt(Tr P_U Tr P_V) for the projections on the spans of the lines of u [k, D] and
/// v [l, D]: 1 for equal spans, 0 for orthogonal ones. Lines need not be orthonormal. NaN if a span
/// has dimension zero or a line is not finite.
[[nodiscard]] double subspace_overlap(const Tensor& u, const Tensor& v);

}  // namespace flightdeck
