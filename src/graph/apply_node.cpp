// SPDX-License-Identifier: MIT
#include "graph/apply_node.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>

#include <ATen/ATen.h>
#include <ATen/ExpandUtils.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/engine.h>

#include "base/shape.h"
#include "graph/complex_entries.h"
#include "graph/saved_tensors.h"

namespace flightdeck {
namespace {

using at::Tensor;
using compat::ag::Edge;
using compat::ag::Node;

// Removes the edges of a node that are not wanted, for as long as it lives.
class EdgeCut {
 public:
  EdgeCut(Node* node, const std::vector<bool>& wanted) : node_(node) {
    auto& edges = node->next_edges();
    for (size_t e = 0; e < edges.size(); ++e) {
      const bool stays = e < wanted.size() && wanted[e];
      if (!stays && edges[e].is_valid()) removed_.emplace_back(e, std::exchange(edges[e], Edge()));
    }
  }
  ~EdgeCut() {
    for (auto& [e, edge] : removed_) node_->next_edges()[e] = std::move(edge);
  }
  EdgeCut(const EdgeCut&) = delete;
  EdgeCut& operator=(const EdgeCut&) = delete;

 private:
  Node* node_;
  std::vector<std::pair<size_t, Edge>> removed_;
};

// A node may hand back a gradient in a broadcast shape or another type; the engine puts both right.
Tensor as_expected(const Tensor& gradient, const Edge& edge) {
  if (!gradient.defined()) return gradient;
  const auto& metadata = edge.function->input_metadata(edge.input_nr);
  Tensor result = gradient.is_sparse() ? gradient.to_dense() : gradient;
  const Shape shape = compat::shape_of(*edge.function, edge.input_nr);
  if (!result.sizes().equals(shape)) result = at::sum_to(result, shape);
  const auto dtype = c10::typeMetaToScalarType(metadata.dtype());
  if (!c10::isComplexType(dtype)) result = real_part(result);
  return result.scalar_type() == dtype ? result : result.to(dtype);
}

variable_list column(const variable_list& stacks, int64_t k) {
  variable_list one(stacks.size());
  for (size_t s = 0; s < stacks.size(); ++s) {
    if (stacks[s].defined()) one[s] = stacks[s].select(0, k);
  }
  return one;
}

// Stacks the V results of one slot; a column without a result is zero.
Tensor stack_columns(const std::vector<Tensor>& columns) {
  const auto found = std::find_if(
      columns.begin(), columns.end(), [](const Tensor& column) { return column.defined(); });
  if (found == columns.end()) return {};
  std::vector<Tensor> all = columns;
  for (Tensor& column : all) {
    if (!column.defined()) column = at::zeros_like(*found);
  }
  return all.size() == 1 ? all[0].unsqueeze(0) : at::stack(all);
}

// Says what an op without a second derivative means here; other errors are thrown on.
[[noreturn]] void rethrow_as_refusal(c10::Error& error, const Node* node) {
  const std::string what = error.what_without_backtrace();
  const bool is_missing = what.find("derivative for") != std::string::npos ||
                          what.find("not implemented") != std::string::npos ||
                          what.find("double back") != std::string::npos ||
                          what.find("differentiated twice") != std::string::npos ||
                          what.find("once_differentiable") != std::string::npos;
  if (!is_missing) {
    error.add_context("while differentiating " + node->name() + " a second time");
    throw;
  }
  TORCH_CHECK_NOT_IMPLEMENTED(
      false,
      "curvature: ",
      node->name(),
      " cannot be differentiated a second time (",
      what,
      "); compute this part of the model with ops that can, for example the math kernel of "
      "attention");
}

// These results depend on a root and are part of a graph themselves.
struct Roots {
  std::vector<size_t> slots;
  variable_list values;
};

Roots roots_of(const variable_list& results) {
  Roots roots;
  for (size_t e = 0; e < results.size(); ++e) {
    if (!results[e].defined() || !results[e].requires_grad()) continue;
    roots.slots.push_back(e);
    roots.values.push_back(results[e]);
  }
  return roots;
}

variable_list pick(const variable_list& from, const std::vector<size_t>& slots) {
  variable_list picked;
  for (size_t slot : slots) picked.push_back(from[slot]);
  return picked;
}

std::vector<bool> defined_slots(const variable_list& list, size_t size) {
  std::vector<bool> is_defined(size, false);
  for (size_t k = 0; k < list.size(); ++k) is_defined[k] = list[k].defined();
  return is_defined;
}

std::atomic<int64_t> own_passes{0};

}  // namespace

OwnPass::OwnPass() { ++own_passes; }
OwnPass::~OwnPass() { --own_passes; }
bool OwnPass::is_running() { return own_passes > 0; }

int64_t stack_size(const variable_list& stacks) {
  for (const Tensor& stack : stacks) {
    if (stack.defined()) return stack.size(0);
  }
  return 0;
}

variable_list apply_node(Node* node, variable_list gradients, const std::vector<bool>& wanted) {
  variable_list results;
  {
    const bool is_fixed = compat::has_fixed_edges(*node);
    const EdgeCut cut(node, is_fixed ? std::vector<bool>(node->num_outputs(), true) : wanted);
    try {
      apart_from_pass(node->input_metadata(0).device(),
                      [&] { results = (*node)(std::move(gradients)); });
    } catch (c10::Error& error) {
      error.add_context("while applying " + node->name());
      throw;
    }
  }
  results.resize(wanted.size());
  for (size_t e = 0; e < results.size(); ++e) {
    results[e] = wanted[e] ? as_expected(results[e], node->next_edge(e)) : Tensor();
  }
  return results;
}

variable_list push_tangents(Node* node,
                            const variable_list& tangents,
                            const std::vector<bool>& is_used) {
  const at::AutoGradMode with_graph(true);
  variable_list seeds(is_used.size()), inputs;
  std::vector<size_t> outputs;
  for (size_t k = 0; k < is_used.size(); ++k) {
    if (!is_used[k]) continue;
    const auto options = node->input_metadata(k).options();
    seeds[k] = at::zeros(compat::shape_of(*node, k), options).requires_grad_();
    inputs.push_back(seeds[k]);
    outputs.push_back(k);
  }
  std::vector<std::vector<Tensor>> columns(is_used.size());
  try {
    const Roots roots =
        roots_of(apply_node(node, seeds, defined_slots(tangents, node->num_outputs())));
    for (int64_t v = 0; v < stack_size(tangents); ++v) {
      variable_list one(inputs.size());
      if (!roots.values.empty()) {
        const OwnPass own;
        one = torch::autograd::grad(roots.values,
                                    inputs,
                                    pick(column(tangents, v), roots.slots),
                                    /*retain_graph=*/true,
                                    /*create_graph=*/false,
                                    /*allow_unused=*/true);
      }
      for (size_t k = 0; k < outputs.size(); ++k) columns[outputs[k]].push_back(one[k]);
    }
  } catch (c10::Error& error) {
    rethrow_as_refusal(error, node);
  }
  variable_list results(is_used.size());
  for (size_t k = 0; k < results.size(); ++k) results[k] = stack_columns(columns[k]);
  return results;
}

variable_list bend_tangents(Node* node,
                            const variable_list& gradients,
                            const variable_list& tangents,
                            const std::vector<bool>& wanted) {
  const at::AutoGradMode with_graph(true);
  variable_list results(wanted.size());
  std::vector<std::vector<Tensor>> columns(wanted.size());
  try {
    const Roots roots =
        roots_of(apply_node(node, gradients, defined_slots(tangents, wanted.size())));
    if (roots.values.empty()) return results;
    // Stop at the inputs: a producer may itself depend on another input.
    std::vector<std::unique_ptr<EdgeCut>> cuts;
    // Hooks on what the program's modules returned are not called for this.
    std::vector<std::unique_ptr<compat::NoTensorHooks>> unheard;
    std::vector<Node*> producers{node};
    compat::ag::edge_list targets, starts;
    std::vector<size_t> edges;
    for (size_t e = 0; e < wanted.size(); ++e) {
      const Edge edge = node->next_edge(e);
      if (!edge.is_valid()) continue;
      // An input that is used twice gets its derivative once.
      const bool is_new = std::find(targets.begin(), targets.end(), edge) == targets.end();
      if (wanted[e] && is_new) {
        targets.push_back(edge);
        edges.push_back(e);
      }
      Node* producer = edge.function.get();
      if (std::find(producers.begin(), producers.end(), producer) != producers.end()) continue;
      producers.push_back(producer);
      cuts.push_back(std::make_unique<EdgeCut>(producer, std::vector<bool>()));
      unheard.push_back(std::make_unique<compat::NoTensorHooks>(*producer));
    }
    if (targets.empty()) return results;
    for (const Tensor& root : roots.values) {
      starts.push_back(torch::autograd::impl::gradient_edge(root));
    }
    for (int64_t v = 0; v < stack_size(tangents); ++v) {
      const OwnPass own;
      const variable_list bent = torch::autograd::Engine::get_default_engine().execute(
          starts,
          pick(column(tangents, v), roots.slots),
          /*keep_graph=*/true,
          /*create_graph=*/false,
          /*accumulate_grad=*/false,
          targets);
      for (size_t k = 0; k < edges.size(); ++k) columns[edges[k]].push_back(bent[k]);
    }
  } catch (c10::Error& error) {
    rethrow_as_refusal(error, node);
  }
  for (size_t e = 0; e < results.size(); ++e) results[e] = stack_columns(columns[e]);
  return results;
}

}  // namespace flightdeck
