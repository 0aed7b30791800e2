// SPDX-License-Identifier: MIT
#include "passes/walker.h"

#include <algorithm>
#include <utility>

#include <ATen/ATen.h>

#include "graph/transient_parameters.h"
#include "passes/apply_captured.h"

namespace flightdeck {

using compat::ag::Edge;

void walk(const Capture& capture,
          BatchNormPolicy batch_norm,
          const Tensor& seed,
          const std::function<bool(const CapturedNode&, size_t)>& follows,
          const std::function<void(size_t, const variable_list&)>& visit) {
  check_transient();
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
    if (capture.holds_statistics(k, batch_norm) && wanted[0]) {
      results[0] = captured.rule->vjp(capture.view(k), 0, gradients[0]);
      wanted[0] = false;
    }
    Tensor first = results[0];
    if (std::find(wanted.begin(), wanted.end(), true) != wanted.end()) {
      results = apply_captured(captured, std::move(gradients), wanted);
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
