// SPDX-License-Identifier: MIT
#include "graph/topology.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace flightdeck {

Topology read_topology(compat::ag::Node* root) {
  Topology topology;
  // The search is depth-first with an explicit stack: unrolled recurrent nets are deeper than the
  // call stack.
  std::unordered_set<const compat::ag::Node*> seen{root};
  std::vector<std::pair<compat::ag::Node*, size_t>> path{{root, 0}};
  while (!path.empty()) {
    auto& [node, edge] = path.back();
    if (edge == node->next_edges().size()) {
      topology.order.push_back(node);
      path.pop_back();
      continue;
    }
    compat::ag::Node* next = node->next_edge(edge++).function.get();
    if (next && seen.insert(next).second) path.emplace_back(next, 0);
  }
  std::reverse(topology.order.begin(), topology.order.end());
  for (size_t k = 0; k < topology.order.size(); ++k) topology.position[topology.order[k]] = k;
  return topology;
}

}  // namespace flightdeck
