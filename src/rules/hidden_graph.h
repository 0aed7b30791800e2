// SPDX-License-Identifier: MIT
// Nodes that stand for a graph which is not there when ours is read. The parameters inside cannot
// be found, and calling such a node may run that graph's own backward pass, into `.grad`.
#pragma once

#include <string>

namespace flightdeck {

// What hides a graph behind a node of this name and what to do about it; empty for all others.
inline std::string hidden_graph(const std::string& node) {
  if (node == "CheckpointFunctionBackward") {
    return "reentrant checkpointing (" + node +
           ") hides the layers inside of it; pass use_reentrant=False to checkpoint";
  }
  if (node == "CompiledFunctionBackward") {
    return "torch.compile made one op (" + node +
           ") of the model; run it eagerly at the steps that are watched: give the compiled module "
           "to the cockpit, or call it inside cockpit.eager(step)";
  }
  return "";
}

}  // namespace flightdeck
