// SPDX-License-Identifier: MIT
// What autograd nodes have kept of the forward pass: inputs and outputs of their ops. One table for
// all ops, because nothing but the names of fields differs.
#pragma once

#include <vector>

#include "graph/node_view.h"

namespace flightdeck {

struct KeptValue {
  static constexpr int64_t kOutput = -1;   // the op's first output
  static constexpr int64_t kIndices = -2;  // integers that chose lines of a table

  int64_t place;  // an edge: the op's input there
  Tensor value;   // detached
};

// Returns an empty list for ops that keep nothing or are not known here.
std::vector<KeptValue> kept_values(const NodeView& node);

}  // namespace flightdeck
