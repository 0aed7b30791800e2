// SPDX-License-Identifier: MIT
// Curvature of one parameter as a Kronecker product, its damped inverse and its corrected
// eigenvalues.
#pragma once

#include <memory>

#include <ATen/core/Tensor.h>

#include "flightdeck/operator.h"

namespace flightdeck {

/// The curvature of a weight [J, ...] taken as a matrix [J, I] is approximated by
/// output ⊗ input (lines of the matrix vary slowest). A vector [J] of up to 8192 entries has no
/// input factor; its whole block is `output`. A weight stored the other way round, [inputs,
/// outputs], has the factor of its first dimension in `output` all the same.
struct KroneckerFactors {
  Tensor output;  ///< B [J, J]
  Tensor input;   ///< A [I, I]; undefined for a bias

  /// EKFAC: eigenvectors of the factors in their columns and, in place of the products of their
  /// eigenvalues, the second moments [J, I] in that basis. Undefined unless asked for.
  Tensor output_basis;
  Tensor input_basis;
  Tensor corrected;

  bool defined() const { return output.defined(); }
  bool is_corrected() const { return corrected.defined(); }
};

/// How the damping is spread over the two factors.
enum class DampingSplit {
  kTrace,  ///< (A + pi sqrt(damping) I)^-1 ⊗ (B + sqrt(damping)/pi I)^-1, pi² the ratio of traces
  kExact,  ///< (A ⊗ B + damping I)^-1 by the eigenvectors of both factors
};

/// v -> (output ⊗ input) v on the flattened parameter, [V, J * I] or [V, J] for a bias; the
/// corrected one if it was computed. Keeps the factors, without a copy.
[[nodiscard]] std::shared_ptr<const LinearOperator> kronecker_operator(
    const KroneckerFactors& factors);

/// v -> (output ⊗ input + damping)^-1 v. The exact split (and EKFAC's corrected eigenvalues, where
/// present) needs no approximation of the damping, and neither does a bias or a factor that is
/// zero. The trace split solves by Cholesky, or by eigenvectors where its share of the damping is
/// lost in the rounding of a factor. It needs positive semi-definite factors; the exact one does
/// not.
///
/// Throws if the matrix is singular, as it may be without damping. Factors that are not finite give
/// NaN.
[[nodiscard]] std::shared_ptr<const LinearOperator> kronecker_inverse(
    const KroneckerFactors& factors, double damping, DampingSplit split = DampingSplit::kTrace);

}  // namespace flightdeck
