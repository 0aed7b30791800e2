// SPDX-License-Identifier: MIT
// Which entries x[i, j, ...] are, for the ops that read or write them.
#pragma once

#include <vector>

#include "base/shape.h"
#include "graph/node_view.h"

namespace flightdeck {

// Holds tensors of integers, all of one shape, which stands in x[i, j, ...] in the place of the
// dimensions they pick in.
struct Picking {
  std::vector<Tensor> places;  // one for each dimension of x; undefined: taken whole
  int64_t rank = 0;            // of the integers' shape
  int64_t first = 0;           // dimension of x[i, j, ...] that theirs begin with
  bool is_in_front = false;    // whole dimensions lie between them: then theirs come first

  bool picks(size_t dim) const { return places[dim].defined(); }
  int64_t count() const;
  // Returns true if dimension `dim` of x[i, j, ...] is one of the integers' shape.
  bool contains(int64_t dim) const { return dim >= first && dim < first + rank; }
  // Return the dimension of x that is dimension `dim` of x[i, j, ...], and the other way round.
  int64_t whole_dim(int64_t dim) const;
  int64_t dim_of_whole(int64_t dim) const;

  // Returns the indices behind one more dimension that is taken whole.
  c10::List<c10::optional<Tensor>> behind_stack() const;
};

// Reads the indices that a node saved for an x of this shape; masks become integers.
Picking picking_of(const NodeView& node,
                   const std::vector<compat::ag::SavedVariable>& indices,
                   const Shape& shape);

}  // namespace flightdeck
