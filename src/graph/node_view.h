// SPDX-License-Identifier: MIT
// A read-only look at one autograd node: shapes on both sides and its saved tensors.
#pragma once

#include <string>

#include "graph/complex_entries.h"
#include "graph/layout.h"
#include "graph/saved_tensors.h"
#include "graph/torch_compat.h"
#include "graph/transient_parameters.h"

namespace flightdeck {

// "Outputs" and "inputs" are those of the forward op: output k is what arrives as gradient k,
// input e is what the node's edge e leads to.
class NodeView {
 public:
  explicit NodeView(compat::ag::Node* node) : node_(node) {}

  compat::ag::Node* node() const { return node_; }
  std::string name() const { return node_->name(); }

  size_t num_inputs() const { return node_->next_edges().size(); }
  bool has_input(size_t edge) const {
    return edge < num_inputs() && node_->next_edge(edge).is_valid();
  }
  Shape input_shape(size_t edge) const {
    const auto& next = node_->next_edge(edge);
    return compat::shape_of(*next.function, next.input_nr);
  }

  at::TensorOptions input_options(size_t edge) const {
    const auto& next = node_->next_edge(edge);
    return next.function->input_metadata(next.input_nr).options();
  }

  size_t num_outputs() const { return node_->num_inputs(); }
  Shape output_shape(size_t index = 0) const { return compat::shape_of(*node_, index); }
  at::TensorOptions output_options(size_t index = 0) const {
    return node_->input_metadata(index).options();
  }

  // Returns true if an input that leads on, or an output, has complex entries.
  bool has_complex() const {
    for (size_t e = 0; e < num_inputs(); ++e) {
      if (has_input(e) && is_complex(input_options(e))) return true;
    }
    for (size_t k = 0; k < num_outputs(); ++k) {
      if (is_complex(output_options(k))) return true;
    }
    return false;
  }

  // Returns a gradient as the input at `edge` takes it: for a real input that met complex ones, the
  // real part.
  Tensor as_input(size_t edge, const Tensor& gradient) const {
    return is_complex(input_options(edge)) ? gradient : real_part(gradient);
  }

  // Returns the node as its generated type, e.g. view.as<compat::nodes::AddmmBackward0>().mat1_.
  template <typename NodeType>
  const NodeType& as() const {
    const auto* typed = dynamic_cast<const NodeType*>(node_);
    TORCH_INTERNAL_ASSERT(typed, "node ", name(), " is not of the type its rule expects");
    return *typed;
  }

  // Reads a saved tensor. Throws PyTorch's own error if the graph was freed or the tensor modified
  // in place.
  Tensor unpack(const compat::ag::SavedVariable& saved) const {
    const Tensor tensor = unpack_as_it_is(saved);
    TORCH_CHECK_NOT_IMPLEMENTED(!is_freed(tensor),
                                "a weight that ",
                                name(),
                                " saved is freed until the backward pass of its module "
                                "(fully_shard); reshard_after_forward=False keeps it");
    return tensor;
  }
  // Reads a saved tensor like `unpack`, and returns an undefined one if it was freed.
  Tensor unpack_if_there(const compat::ag::SavedVariable& saved) const {
    const Tensor tensor = unpack_as_it_is(saved);
    return is_freed(tensor) ? Tensor() : tensor;
  }

 private:
  Tensor unpack_as_it_is(const compat::ag::SavedVariable& saved) const {
    try {
      const Tensor tensor = read_saved(saved, *node_);
      return tensor.defined() ? tensor.detach() : tensor;
    } catch (c10::Error& error) {
      error.add_context("while reading what " + name() + " saved");
      throw;
    }
  }

  compat::ag::Node* node_;
};

}  // namespace flightdeck
