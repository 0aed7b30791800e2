// SPDX-License-Identifier: MIT
// What a captured graph tells beside gradients: values of the forward pass that its nodes have
// kept, the layers they belong to, where the loss begins, what the model was given.
#pragma once

#include <string>
#include <vector>

#include "passes/capture.h"
#include "rules/node_facts.h"

namespace flightdeck {

// Tells the layer of every node: the module of the parameter that is nearest on the way to the
// inputs.
struct NodeLayers {
  static constexpr int64_t kNone = -1;
  std::vector<int64_t> parameter;  // per node; kNone: no parameter lies below
  // The node where that parameter enters: nodes with the same one stand behind the same use.
  std::vector<int64_t> use;

  // Returns "conv1", or the op of a node without a layer.
  std::string name(const Capture& capture, const Parameters& parameters, size_t node) const;
};
NodeLayers find_layers(const Capture& capture);

// Returns "conv1" of "conv1.weight", and a name without a module as it is.
std::string layer_of(const std::string& parameter);

// Returns "relu" of "ReluBackward0".
std::string op_name(const Capture& capture, size_t node);

// Holds the output of a node as it or one of its consumers has kept it.
struct ForwardValue {
  size_t node;
  Tensor value;
};
// Lists each output once, those of producers first. Parameters are left out.
std::vector<ForwardValue> forward_values(const Capture& capture);

// Lists the nodes where a loss that is known begins, and all linear ones between the outputs and
// the losses.
struct LossNodes {
  std::vector<size_t> heads;
  std::vector<bool> is_above;  // per node; the heads too
};
LossNodes find_loss_nodes(const Capture& capture);

// Goes from an edge of `node` down through nodes that only rearrange entries. Returns where that
// ends, or -1.
int64_t below_views(const Capture& capture, size_t node, size_t edge);

// Returns what enters layers and does not depend on parameters: the model's inputs, samples first.
// There are none if the graph has not kept them.
std::vector<Tensor> graph_inputs(const Capture& capture);

// Returns the class labels that a negative log-likelihood has kept, or undefined tensors. Classes
// are in dimension 1 of its log-probabilities, 0 if they have one dimension.
KeptTargets graph_targets(const Capture& capture);

}  // namespace flightdeck
