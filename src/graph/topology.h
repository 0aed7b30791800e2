// SPDX-License-Identifier: MIT
// The nodes behind a tensor in the order a backward pass visits them.
#pragma once

#include <unordered_map>
#include <vector>

#include "graph/torch_compat.h"

namespace flightdeck {

struct Topology {
  // Every node comes before the nodes its edges lead to.
  std::vector<compat::ag::Node*> order;
  std::unordered_map<const compat::ag::Node*, size_t> position;
};

Topology read_topology(compat::ag::Node* root);

}  // namespace flightdeck
