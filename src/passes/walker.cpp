// SPDX-License-Identifier: MIT
#include "passes/walker.h"

#include <utility>

#include <ATen/ATen.h>
#include <ATen/ExpandUtils.h>

namespace flightdeck {
namespace {

using compat::ag::Edge;
using compat::ag::Node;

// Removes the edges of a node that are not wanted, for as long as it lives.
class EdgeCut {
 public:
  EdgeCut(Node* node, const std::vector<bool>& wanted) : node_(node) {
    auto& edges = node->next_edges();
    for (size_t e = 0; e < edges.size(); ++e) {
      if (!wanted[e] && edges[e].is_valid())
        removed_.emplace_back(e, std::exchange(edges[e], Edge()));
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
  return result.scalar_type() == dtype ? result : result.to(dtype);
}

}  // namespace

variable_list apply_node(Node* node, variable_list gradients, const std::vector<bool>& wanted) {
  variable_list results;
  {
    const EdgeCut cut(node, wanted);
    try {
      results = (*node)(std::move(gradients));
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

void walk(const Capture& capture,
          const Tensor& seed,
          const std::function<bool(const CapturedNode&, size_t)>& follows,
          const std::function<void(size_t, const variable_list&)>& visit) {
  std::vector<variable_list> waiting(capture.nodes.size());
  waiting[0].resize(capture.nodes[0].node->num_inputs());
  waiting[0][capture.root_output] = seed;
  for (size_t k = 0; k < capture.nodes.size(); ++k) {
    if (waiting[k].empty()) continue;
    const CapturedNode& captured = capture.nodes[k];
    variable_list gradients = std::move(waiting[k]);
    visit(k, gradients);
    std::vector<bool> wanted(captured.edges.size());
    bool any = false;
    for (size_t e = 0; e < wanted.size(); ++e) {
      wanted[e] = captured.next[e] >= 0 && follows(captured, e);
      any = any || wanted[e];
    }
    if (!any) continue;
    variable_list results(wanted.size());
    if (captured.holds_statistics && wanted[0]) {
      results[0] = captured.rule->vjp(capture.view(k), 0, gradients[0]);
      wanted[0] = false;
    }
    Tensor first = results[0];
    if (std::find(wanted.begin(), wanted.end(), true) != wanted.end()) {
      results = apply_node(captured.node, std::move(gradients), wanted);
      if (first.defined()) results[0] = first;
    }
    for (size_t e = 0; e < results.size(); ++e) {
      if (!results[e].defined()) continue;
      const Edge& edge = captured.node->next_edge(e);
      auto& target = waiting[captured.next[e]];
      if (target.empty()) target.resize(std::max<size_t>(1, edge.function->num_inputs()));
      Tensor& slot = target[edge.input_nr];
      slot = slot.defined() ? slot + results[e] : results[e];
    }
  }
}

}  // namespace flightdeck
