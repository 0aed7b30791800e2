// SPDX-License-Identifier: MIT
#include "passes/scalar_reading.h"

#include <algorithm>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "passes/scalar_terms.h"

namespace flightdeck {
namespace {

using compat::ag::Edge;
using compat::ag::Node;

Shape shape_at(const Edge& edge) { return compat::shape_of(*edge.function, edge.input_nr); }

// Returns the one input of a node that others have computed, or null.
const Edge* only_input(const NodeView& view) {
  const Edge* only = nullptr;
  for (size_t e = 0; e < view.num_inputs(); ++e) {
    if (!view.has_input(e)) continue;
    if (only) return nullptr;
    only = &view.node()->next_edge(e);
  }
  return only;
}

// Counts the samples in the leading dimension of what the edge leads to.
int64_t leading_samples(const Edge& reduced) {
  const int64_t lines = shape_at(reduced)[0];
  const Edge* edge = &reduced;
  while (true) {
    const NodeView view(edge->function.get());
    const Rule* rule = find_rule(view.name());
    edge = only_input(view);
    if (!rule || !edge) return lines;
    const Shape input = shape_at(*edge), output = view.output_shape();
    if (input.empty() || output.empty() || input[0] == 0) return lines;
    if (rule->is_view() && input.size() > output.size() && input[0] * input[1] == lines) {
      return input[0];
    }
    const Layout layout = rule->input_layout(view, 0, Layout::batch(lines, 0));
    if (!layout.is_batch() || layout.dim != 0 || input[0] != lines) return lines;
  }
}

struct Reduced {
  std::string op;
  Reduction reduction;
  double factor;
  int64_t samples;
};

// Finds every op that reduces samples to a term of the loss.
std::vector<Reduced> find_reduced(const Tensor& loss) {
  struct Place {
    Node* node;
    double factor;
  };
  ScalarTerms terms(/*N=*/0);
  std::vector<Reduced> found;
  std::vector<Place> todo{{loss.grad_fn().get(), 1}};
  std::set<const Node*> seen;
  while (!todo.empty()) {
    const Place place = todo.back();
    todo.pop_back();
    const Rule* rule = find_rule(place.node->name());
    if (!rule || !seen.insert(place.node).second) continue;
    const NodeView view(place.node);
    for (size_t e = 0; e < view.num_inputs(); ++e) {
      if (!view.has_input(e)) continue;
      const Edge& edge = place.node->next_edge(e);
      const auto reduction = rule->reduction(view);
      if (product(shape_at(edge)) == 1) {
        const double unknown = std::numeric_limits<double>::quiet_NaN();
        todo.push_back(
            {edge.function.get(), place.factor * rule->summand(view, e).value_or(unknown)});
      } else if (reduction && terms.carries_samples(edge)) {
        found.push_back({view.name(), *reduction, place.factor, leading_samples(edge)});
      }
    }
  }
  return found;
}

}  // namespace

ScalarReading read_scalar(const Tensor& loss) {
  const compat::PassGuard guard;
  const std::vector<Reduced> found = find_reduced(loss);
  if (found.empty()) return {};
  const int64_t N = found.front().samples;
  ReductionReading reading(N, Reduction::kMean);
  for (const Reduced& term : found) {
    if (term.samples != N) return {};
    reading.note(term.op, term.reduction, term.factor);
  }
  const double factor = found.front().factor;
  const bool is_common = std::all_of(
      found.begin(), found.end(), [&](const Reduced& term) { return term.factor == factor; });
  return {N,
          reading.contradiction().empty() ? Reduction::kMean : Reduction::kSum,
          is_common ? factor : std::numeric_limits<double>::quiet_NaN()};
}

}  // namespace flightdeck
