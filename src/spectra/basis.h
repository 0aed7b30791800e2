// SPDX-License-Identifier: MIT
// Orthonormal lines in R^D that grow one by one.
#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>
#include <c10/core/TensorOptions.h>

namespace flightdeck {

using at::Tensor;

class Basis {
 public:
  Basis(int64_t dim, const at::TensorOptions& options);
  // Takes lines [m, D] that are orthonormal. They are not written to.
  explicit Basis(const Tensor& lines);

  int64_t dim() const { return storage_.size(1); }
  int64_t size() const { return size_; }
  bool is_complete() const { return size_ == dim(); }

  // Returns a view of lines [first, last).
  Tensor lines(int64_t first, int64_t last) const { return storage_.slice(0, first, last); }
  Tensor lines() const { return lines(0, size_); }
  void replace(const Tensor& lines);  // [m, D], orthonormal

  // Takes out of vectors [V, D], in place, what lies in the span. Returns what was taken out as
  // coefficients [V, m], float64 on the CPU. This is one pass: the rest is orthogonal only if
  // little was taken out.
  Tensor remove_span(Tensor& vectors) const;

  struct Appended {
    Tensor coefficients;  // of the line in the basis, the appended line last; [m + 1], float64
    bool added;
  };
  // Appends the part of a line [D] outside the span, scaled to length one. Nothing is added if the
  // norm of that part is at most `negligible`, not finite, or rounding noise, or if the basis is
  // complete; the last coefficient is then 0.
  Appended append(const Tensor& line, double negligible);

 private:
  void reserve(int64_t count);

  Tensor storage_;  // [capacity, D]
  int64_t size_ = 0;
};

}  // namespace flightdeck
