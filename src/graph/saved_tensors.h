// SPDX-License-Identifier: MIT
// Reads what nodes saved. Hooks of the program may lie in between (checkpointing, tensors kept on
// another device), and what passes through them may be readable only once in a backward pass: that
// once belongs to the node.
#pragma once

#include "graph/torch_compat.h"

namespace flightdeck {

// Reads a tensor with hooks inside a backward pass so that the node can read it again, or throws.
using HookedReader = at::Tensor (*)(const compat::ag::SavedVariable& saved,
                                    const compat::NodePtr& node);

// Sets how a program that can have such hooks (one in Python) reads them. By default a tensor with
// hooks is read as if outside of the pass.
void set_hooked_reader(HookedReader reader);
at::Tensor read_outside_pass(const compat::ag::SavedVariable& saved, const compat::NodePtr& node);

at::Tensor read_saved(const compat::ag::SavedVariable& saved, compat::ag::Node& node);

// Returns true if what nodes saved may have hooks.
bool may_have_hooks();

// Runs a body that applies nodes and leaves them to the calling backward pass as they were.
template <typename Body>
void apart_from_pass(c10::Device device, const Body& body) {
  if (compat::is_partial_pass() || may_have_hooks()) {
    compat::outside_pass(device, body);
  } else {
    body();
  }
}

}  // namespace flightdeck
