// SPDX-License-Identifier: MIT
#include "passes/scalar_terms.h"

#include <cmath>
#include <set>
#include <utility>
#include <vector>

namespace flightdeck {

using compat::ag::AccumulateGrad;
using compat::ag::Edge;
using compat::ag::Node;

namespace {

bool is_one(const Edge& edge) {
  return product(compat::shape_of(*edge.function, edge.input_nr)) == 1;
}

}  // namespace

bool ScalarTerms::carries_samples(const Edge& edge) {
  return is_one(edge) ? is_reduced_from_samples(edge.function.get()) : !reaches_parameter(edge);
}

bool ScalarTerms::is_reduced_from_samples(Node* root) {
  // Producers come first, so that each node finds its inputs known: a chain of scalars can be long.
  std::vector<Node*> todo{root};
  while (!todo.empty()) {
    Node* node = todo.back();
    if (known_.count(node)) {
      todo.pop_back();
      continue;
    }
    bool carries = false, is_known = true;
    for (const Edge& edge : node->next_edges()) {
      if (!edge.is_valid() || carries) continue;
      if (!is_one(edge)) {
        carries = !reaches_parameter(edge);
        continue;
      }
      const auto found = known_.find(edge.function.get());
      if (found != known_.end()) {
        carries = found->second;
      } else {
        todo.push_back(edge.function.get());
        is_known = false;
      }
    }
    if (!is_known && !carries) continue;
    known_[node] = carries;
  }
  return known_.at(root);
}

bool ScalarTerms::reaches_parameter(const Edge& reduced) const {
  struct Place {
    Node* node;
    Layout layout;
  };
  const Shape shape = compat::shape_of(*reduced.function, reduced.input_nr);
  std::vector<Place> todo{{reduced.function.get(), Layout::batch(shape[0], 0)}};
  std::set<const Node*> seen{reduced.function.get()};
  bool is_reached = false;
  while (!todo.empty()) {
    const Place place = todo.back();
    todo.pop_back();
    if (dynamic_cast<const AccumulateGrad*>(place.node)) {
      is_reached = true;
      continue;
    }
    const Rule* rule = find_rule(place.node->name());
    if (!rule && N_ == 1) return false;
    if (!rule) continue;
    const NodeView view(place.node);
    for (size_t e = 0; e < view.num_inputs(); ++e) {
      if (!view.has_input(e)) continue;
      Layout layout = rule->input_layout(view, e, place.layout);
      const Shape input = view.input_shape(e);
      // Lines that are normalised together are coupled; what scales them is not one of them.
      const bool is_coupled = layout.kind == Layout::Kind::kCoupled;
      if (is_coupled && input != view.output_shape()) layout = Layout::free();
      // An op that has its entries in another shape, or mixed, cannot be followed line by line.
      const bool is_lost = !layout.is_batch() && !layout.is_free();
      if (is_lost && !input.empty()) layout = Layout::batch(input[0], 0);
      Node* next = place.node->next_edge(e).function.get();
      if (!layout.is_batch() && N_ == 1) return false;
      if (layout.is_batch() && seen.insert(next).second) todo.push_back({next, layout});
    }
  }
  return is_reached;
}

void ReductionReading::note(const std::string& op, Reduction reduction, double factor) {
  if (op_.empty()) op_ = op;
  const double share = factor * (reduction == Reduction::kMean ? 1 / N_ : 1);
  const auto is = [share](double number) { return std::abs(share / number - 1) < 1e-5; };
  is_mean_ = is_mean_ || is(1 / N_);
  is_sum_ = is_sum_ || is(1);
}

std::string ReductionReading::contradiction() const {
  const bool says_mean = said_ == Reduction::kMean;
  if (says_mean ? is_mean_ || !is_sum_ : is_sum_ || !is_mean_) return "";
  return c10::str("gradients: options.reduction is ",
                  says_mean ? "kMean" : "kSum",
                  " but the graph (",
                  op_,
                  ") reduces the loss over ",
                  N_,
                  " samples by a ",
                  says_mean ? "sum; set it to kSum" : "mean; set it to kMean");
}

}  // namespace flightdeck
