// SPDX-License-Identifier: MIT
// Where the entries of a row sit inside the parameter: what views of the parameter (transpose,
// reshape, slice) lay between it and the op that used it.
#pragma once

#include <vector>

#include <ATen/core/Tensor.h>

#include "base/shape.h"

namespace flightdeck {

using at::Tensor;

// A placement is a chain of one-to-one moves of entries. Since no entry is changed or merged, norms
// and dot products of rows do not see the chain, and squares commute with it.
class Placement {
 public:
  // `shape` is the shape of one row where the chain starts.
  explicit Placement(Shape shape) : start_(shape), shape_(std::move(shape)) {}

  const Shape& start_shape() const { return start_; }
  const Shape& shape() const { return shape_; }
  bool is_identity() const { return steps_.empty(); }

  // Each takes the view that was applied to a tensor of shape `to` on the way from the parameter.
  void undo_permute(const Shape& dims);
  void undo_reshape(const Shape& to);
  void undo_slice(const Shape& to, int64_t dim, int64_t start, int64_t step);

  // Moves [*lead, *start_shape] to [*lead, *shape]; entries outside a slice become zero.
  Tensor to_parameter(Tensor rows, int64_t lead) const;
  // Moves [*lead, *shape] to [*lead, *start_shape]: the adjoint.
  Tensor from_parameter(Tensor values, int64_t lead) const;

  // Returns true if the chain keeps the order of the entries, and leaves none out.
  bool keeps_order() const;
  // Returns true if the chain is one transposition of a matrix.
  bool is_transposition() const;

  // Returns true if no entry of the parameter is reached by both.
  bool is_disjoint_from(const Placement& other) const;

  friend bool operator==(const Placement& a, const Placement& b) {
    return a.start_ == b.start_ && a.steps_ == b.steps_;
  }

 private:
  struct Step {
    enum class Kind { kPermute, kReshape, kSlice } kind;
    Shape dims;         // kPermute: the forward permutation
    Shape before;       // shape on the parameter's side
    Shape after;        // shape on the op's side
    int64_t dim = 0;    // kSlice
    int64_t start = 0;  // kSlice
    int64_t step = 1;   // kSlice
    friend bool operator==(const Step& a, const Step& b) {
      return a.kind == b.kind && a.dims == b.dims && a.before == b.before && a.after == b.after &&
             a.dim == b.dim && a.start == b.start && a.step == b.step;
    }
  };

  Shape start_;
  Shape shape_;
  std::vector<Step> steps_;
};

}  // namespace flightdeck
