// SPDX-License-Identifier: MIT
// Symmetric matrices too large to write down, and three small ones to build upon.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

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

/// The lines and columns begin..end-1 of another matrix: what it does among these entries.
class SubBlockOperator : public LinearOperator {
 public:
  SubBlockOperator(std::shared_ptr<const LinearOperator> whole, int64_t begin, int64_t end);
  int64_t dim() const override { return end_ - begin_; }
  at::TensorOptions options() const override { return whole_->options(); }
  Tensor multiply(const Tensor& vectors) const override;

 private:
  std::shared_ptr<const LinearOperator> whole_;
  int64_t begin_, end_;
};

/// The lines of the first dimension of a parameter (all entries of a vector) in `count` blocks of
/// nearly equal size, as ranges begin..end-1 of its flattened entries: sub-blocks of its curvature
/// that are solved apart. As many as there are lines at most.
[[nodiscard]] std::vector<std::pair<int64_t, int64_t>> line_blocks(const Tensor& parameter,
                                                                   int64_t count);

}  // namespace flightdeck
