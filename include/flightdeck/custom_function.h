// SPDX-License-Identifier: MIT
// What a rule needs to know of a C++ `torch::autograd::Function`: the name of its node and what it
// saved. Apart from flightdeck/rule.h because it includes LibTorch's header of such functions.
#pragma once

#include <string>
#include <typeinfo>
#include <vector>

#include <c10/util/Exception.h>
#include <c10/util/Type.h>
#include <torch/csrc/autograd/custom_function.h>

#include "flightdeck/rule.h"

namespace flightdeck {

/// `T` derives from torch::autograd::Function<T>.
template <typename T>
struct CustomFunction {
  using Node = torch::autograd::CppNode<T>;

  /// For CustomRule::nodes.
  static std::string node_name() { return c10::demangle(typeid(Node).name()); }

  /// What `forward` was given as `ctx`: `saved_data` may be read.
  static const torch::autograd::AutogradContext& context(const OpNode& node) {
    const auto* typed = dynamic_cast<const Node*>(node.node());
    TORCH_CHECK(typed, "custom function: the node ", node.name(), " is no ", node_name());
    return typed->ctx_;
  }

  /// What `forward` gave to `save_for_backward`, in order and without a graph. It stays saved for
  /// the backward pass. Throws PyTorch's error if the graph was freed or a tensor was overwritten.
  static std::vector<Tensor> saved(const OpNode& node) {
    std::vector<Tensor> tensors = context(node).get_saved_variables();
    for (Tensor& tensor : tensors) {
      if (tensor.defined()) tensor = tensor.detach();
    }
    return tensors;
  }
};

}  // namespace flightdeck
