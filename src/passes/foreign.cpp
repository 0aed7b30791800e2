// SPDX-License-Identifier: MIT
#include "passes/foreign.h"

#include "base/words.h"
#include "graph/harmless_hooks.h"

namespace flightdeck {
namespace {

using compat::ag::Edge;
using compat::ag::FunctionPreHook;
using compat::ag::Node;

// Marks the nodes at or above a place where rows arise from what the caller's pass brings.
std::vector<bool> lead_to_rows(const Capture& capture) {
  std::vector<bool> leads(capture.nodes.size(), false);
  for (size_t k = capture.nodes.size(); k-- > 0;) {
    const CapturedNode& captured = capture.nodes[k];
    for (size_t e = 0; e < captured.edges.size(); ++e) {
      const bool is_use = captured.edges[e] == EdgeKind::kUse;
      const bool is_above = captured.edges[e] == EdgeKind::kBatch && leads[captured.next[e]];
      if (is_use || is_above) leads[k] = true;
    }
  }
  return leads;
}

}  // namespace

Foreign find_foreign(const Capture& capture,
                     const std::unordered_set<Node*>& pass,
                     const std::function<bool(const FunctionPreHook&)>& is_ours) {
  Foreign foreign;
  foreign.elsewhere.resize(capture.parameters.size());
  const std::vector<bool> leads = lead_to_rows(capture);
  const auto enter = [&](const Node* from, const Edge& edge) {
    const auto found = capture.position.find(edge.function.get());
    if (found == capture.position.end()) return;
    const CapturedNode& captured = capture.nodes[found->second];
    if (captured.parameter >= 0) add_once(foreign.elsewhere[captured.parameter], from->name());
    const bool is_losses = found->second == 0 && edge.input_nr == capture.root_output;
    if (is_losses || !leads[found->second] || !foreign.reason.empty()) return;
    foreign.reason = "gradient that does not come through the losses reaches the output of " +
                     captured.node->name() + " from " + from->name();
  };
  for (const Node* node : pass) {
    if (capture.position.count(node)) continue;
    for (const Edge& edge : node->next_edges()) {
      if (edge.is_valid()) enter(node, edge);
    }
  }
  for (size_t k = 0; k < capture.nodes.size() && foreign.reason.empty(); ++k) {
    if (leads[k] && compat::has_other_hooks(*capture.nodes[k].node, is_ours, is_harmless)) {
      foreign.reason =
          "a hook may change the gradient at the output of " + capture.nodes[k].node->name();
    }
  }
  return foreign;
}

}  // namespace flightdeck
