// SPDX-License-Identifier: MIT
// A backward pass of our own over a captured graph. Unlike PyTorch's engine it visits chosen edges
// only, keeps the graph, touches no .grad and runs no hooks.
#pragma once

#include <functional>

#include "graph/apply_node.h"
#include "passes/capture.h"

namespace flightdeck {

// Propagates `seed`, the gradient of the losses, over the edges for which `follows` is true.
// `visit` sees each node's output gradients before it is applied.
void walk(const Capture& capture,
          BatchNormPolicy batch_norm,
          const Tensor& seed,
          const std::function<bool(const CapturedNode&, size_t edge)>& follows,
          const std::function<void(size_t position, const variable_list& gradients)>& visit);

}  // namespace flightdeck
