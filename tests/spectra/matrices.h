// SPDX-License-Identifier: MIT
// Symmetric matrices with known spectra, and an operator that counts.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "tensors.h"

namespace flightdeck::tests {

// A random orthonormal basis of R^D, [D, D].
inline Tensor random_rotation(int64_t D) { return std::get<0>(at::linalg_qr(random({D, D}))); }

// A symmetric matrix with these eigenvalues [D] in a random basis.
inline Tensor matrix_with(const Tensor& eigenvalues) {
  const Tensor q = random_rotation(eigenvalues.size(0));
  const Tensor matrix = (q * eigenvalues.to(doubles())).mm(q.t());
  return (matrix + matrix.t()) * 0.5;
}

// A few large eigenvalues over a bulk, as loss Hessians have: 10, 8, 6 and D - 3 in [-1, 1].
inline Tensor outlier_matrix(int64_t D) {
  return matrix_with(
      at::cat({at::tensor({10.0, 8.0, 6.0}), at::linspace(-1, 1, D - 3).to(at::kDouble)}));
}

// Counts products, and spoils those from the given one on.
class CountingOperator : public LinearOperator {
 public:
  explicit CountingOperator(const Tensor& matrix) : dense_(matrix) {}
  int64_t dim() const override { return dense_.dim(); }
  at::TensorOptions options() const override { return dense_.options(); }
  Tensor multiply(const Tensor& vectors) const override {
    EXPECT_FALSE(at::GradMode::is_enabled());
    products += vectors.size(0);
    Tensor result = dense_.multiply(vectors);
    if (products > finite_products) result.fill_(std::numeric_limits<double>::quiet_NaN());
    return result;
  }

  mutable int64_t products = 0;
  int64_t finite_products = std::numeric_limits<int64_t>::max();

 private:
  DenseOperator dense_;
};

// A v - lambda v per line, as norms [k] on the CPU.
inline Tensor residuals_of(const Tensor& matrix, const Eigenpairs& pairs) {
  const Tensor lines = pairs.vectors.to(at::kDouble);
  const Tensor values = pairs.values.to(lines.options()).unsqueeze(1);
  return (lines.mm(matrix.to(at::kDouble)) - lines * values).norm(2, 1).cpu();
}

}  // namespace flightdeck::tests
