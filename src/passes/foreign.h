// SPDX-License-Identifier: MIT
// What else than the gradient of the watched losses flows through the watched graph.
#pragma once

#include <functional>
#include <string>
#include <unordered_set>
#include <vector>

#include "passes/capture.h"

namespace flightdeck {

struct Foreign {
  // Says why the gradients of the caller's pass are not those of the losses alone; empty if they
  // are.
  std::string reason;
  // Lists for each parameter the ops whose gradient reaches it past the losses.
  std::vector<std::vector<std::string>> elsewhere;
};

// Looks at the edges of `pass`, all nodes of the backward pass that has begun, that lead into the
// captured graph from outside, and at hooks on captured nodes for which `is_ours` is false. Reads
// no number: one look-up per node of the pass.
Foreign find_foreign(const Capture& capture,
                     const std::unordered_set<compat::ag::Node*>& pass,
                     const std::function<bool(const compat::ag::FunctionPreHook&)>& is_ours);

}  // namespace flightdeck
