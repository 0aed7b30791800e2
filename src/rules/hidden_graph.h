// SPDX-License-Identifier: MIT
// Nodes that stand for a graph which is not there when ours is read. The parameters inside cannot
// be found, and calling such a node may run that graph's own backward pass, into `.grad`.
#pragma once

#include <string>

namespace flightdeck {

// Says what hides a graph behind a node of this name and what to do about it; empty for all others.
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
  // If one rank calls these once per sample, they wait for calls that the others do not make.
  for (const char* of_ranks : {"SyncBatchNormBackward",
                               "_BroadcastBackward",
                               "_GatherBackward",
                               "_ReduceBackward",
                               "_Reduce_ScatterBackward",
                               "_AllGatherBackward",
                               "_AllGatherBaseBackward",
                               "_AlltoAllBackward",
                               "_AlltoAllSingleBackward",
                               "_ScatterBackward",
                               "_AllReduceBackward"}) {
    if (node != of_ranks) continue;
    return "the model exchanges tensors between ranks inside of it (" + node +
           "), so no sample has a gradient of its own; use layers of the rank's own samples (" +
           "BatchNorm in place of SyncBatchNorm), or quantities that need no individual gradients";
  }
  return "";
}

}  // namespace flightdeck
