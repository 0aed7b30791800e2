// SPDX-License-Identifier: MIT
// Symmetric matrices too large to write down, and two small ones to build upon.
#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>
#include <c10/core/TensorOptions.h>

namespace flightdeck {

using at::Tensor;

/// A symmetric linear map on R^D, known by what it does to vectors.
///
/// The functions of spectra.h call `multiply` with gradient recording and autocast switched off; an
/// operator that needs either switches it on itself. They never change what they pass in, nor what
/// they get back while the operator could still hold it.
class LinearOperator {
 public:
  virtual ~LinearOperator() = default;
  virtual int64_t dim() const = 0;                ///< D
  virtual at::TensorOptions options() const = 0;  ///< type and device of its vectors
  /// [V, D] -> [V, D]: each line is one vector.
  virtual Tensor multiply(const Tensor& vectors) const = 0;
};

/// A matrix that is written down.
class DenseOperator : public LinearOperator {
 public:
  /// matrix [D, D], symmetric. It is kept, not copied.
  explicit DenseOperator(Tensor matrix);
  int64_t dim() const override { return matrix_.size(0); }
  at::TensorOptions options() const override { return matrix_.options(); }
  Tensor multiply(const Tensor& vectors) const override;

 private:
  Tensor matrix_;
};

/// A + damping I. Borrows A, which has to outlive it.
class DampedOperator : public LinearOperator {
 public:
  DampedOperator(const LinearOperator& undamped, double damping)
      : undamped_(undamped), damping_(damping) {}
  int64_t dim() const override { return undamped_.dim(); }
  at::TensorOptions options() const override { return undamped_.options(); }
  Tensor multiply(const Tensor& vectors) const override;

 private:
  const LinearOperator& undamped_;
  double damping_;
};

}  // namespace flightdeck
