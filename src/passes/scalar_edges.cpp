// SPDX-License-Identifier: MIT
// How a graph is read where the samples have been reduced to one number.
#include <algorithm>
#include <limits>

#include "base/words.h"
#include "passes/graph_reader.h"

namespace flightdeck {

// Classifies an edge where the samples have been reduced away. Below a mean or sum over them they
// are found again; terms without samples are shared by all; anything else cannot be taken apart.
void GraphReader::classify_scalar_edge(size_t k, size_t e) {
  CapturedNode& captured = capture_.nodes[k];
  const NodeView view(captured.node);
  const Rule* rule = captured.rule;
  const bool is_one = product(view.input_shape(e)) == 1;
  const bool is_summand = rule && rule->summand(view, e).has_value();
  if (!carries_samples(captured, e)) {
    if (is_summand_[k] && is_summand) {
      note_shared_term(k, e);
      use(k, e);
    } else {
      mark_slow(captured, e, view.name() + " combines it with the reduced loss");
    }
    return;
  }
  if (!is_one && rule && rule->reduction(view)) {
    const double unknown = std::numeric_limits<double>::quiet_NaN();
    const double factor = is_summand_[k] ? factor_[k] : unknown;
    reading_.note(view.name(), *rule->reduction(view), factor);
    std::vector<SampleTerm>& terms = capture_.sample_terms;
    if (terms.empty() || terms.back().position != k) terms.push_back({k, factor});
    follow(k, e, rule->input_layout(view, e, captured.layout));
    return;
  }
  if (is_one && rule && (is_summand || is_multiple(captured, e))) {
    follow(k, e, captured.layout);
    return;
  }
  add_once(capture_.couplings, view.name());
  mark_slow(
      captured, e, "the loss is no mean or sum over the samples: " + view.name() + " couples them");
}

bool GraphReader::carries_samples(const CapturedNode& captured, size_t e) {
  return scalar_terms_.carries_samples(captured.node->next_edge(e));
}

// Returns true if the input is multiplied by something that has no samples.
bool GraphReader::is_multiple(const CapturedNode& captured, size_t e) {
  const NodeView view(captured.node);
  if (!captured.rule->is_linear_in(view, e)) return false;
  for (size_t other = 0; other < view.num_inputs(); ++other) {
    if (other != e && view.has_input(other) && carries_samples(captured, other)) return false;
  }
  return true;
}

std::string GraphReader::scalar_error() const {
  const bool has_any_parameter =
      std::any_of(capture_.parameters.begin(),
                  capture_.parameters.end(),
                  [](const CapturedParameter& parameter) { return parameter.leaf >= 0; });
  if (reading_.has_samples() || !capture_.couplings.empty() || !has_any_parameter) {
    return reading_.contradiction();
  }
  return "gradients: no samples are found behind the scalar loss (" +
         capture_.nodes[0].node->name() + ") of batch_size " + std::to_string(capture_.N) +
         "; hand over the individual losses [N]";
}

}  // namespace flightdeck
