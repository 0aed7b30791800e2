// SPDX-License-Identifier: MIT
// What one autograd node computes: its vector-Jacobian product, and from it, by differentiating
// that node alone, its Jacobian-vector product and its own second derivative.
#pragma once

#include <vector>

#include "graph/torch_compat.h"

namespace flightdeck {

using compat::ag::variable_list;

// Marks that a pass of ours runs autograd's engine, for as long as one of these lives.
class OwnPass {
 public:
  OwnPass();
  ~OwnPass();
  OwnPass(const OwnPass&) = delete;
  OwnPass& operator=(const OwnPass&) = delete;

  // Returns true if any thread runs one: the engine may run nodes on a thread of the device.
  static bool is_running();
};

// Returns the number of columns in a list of stacks, some of them undefined; 0 if all are.
int64_t stack_size(const variable_list& stacks);

// Calls a node with only the edges in `wanted` present; the others are put back afterwards.
// Outputs have the shape and type PyTorch's engine would hand on.
variable_list apply_node(compat::ag::Node* node,
                         variable_list gradients,
                         const std::vector<bool>& wanted);

// Computes the forward tangents of a node: J t for each of V tangents. `tangents` has one stack
// [V, *input shape] per edge, undefined where zero; the result one stack [V, *output shape] per
// output in `is_used`. The node's product u -> Jᵀ u is linear in u, so its derivative with
// respect to u is J, whatever u.
variable_list push_tangents(compat::ag::Node* node,
                            const variable_list& tangents,
                            const std::vector<bool>& is_used);

// Computes the second derivative of <gradients, outputs> of a node with respect to its inputs,
// times V tangents: one stack [V, *input shape] per wanted edge, undefined where it vanishes.
variable_list bend_tangents(compat::ag::Node* node,
                            const variable_list& gradients,
                            const variable_list& tangents,
                            const std::vector<bool>& wanted);

}  // namespace flightdeck
