// SPDX-License-Identifier: MIT
// What follows once every node has its side: shared terms, slow parameters, edges that hand on
// rows, and what a person should know.
#include <set>

#include "base/words.h"
#include "passes/graph_reader.h"

namespace flightdeck {

GraphReader::Edges GraphReader::shared_terms(const Capture& capture) const {
  Edges edges;
  for (const SharedTerm& term : capture.shared_terms) {
    const auto next = static_cast<size_t>(capture.nodes[term.position].next[term.edge]);
    if (!has_samples_below(capture, next)) edges.insert({term.position, term.edge});
  }
  return edges;
}

bool GraphReader::has_samples_below(const Capture& capture, size_t root) const {
  std::vector<size_t> todo{root};
  std::set<size_t> seen{root};
  while (!todo.empty()) {
    const size_t k = todo.back();
    todo.pop_back();
    if (layout_of(k).kind != Layout::Kind::kUnset) return true;
    for (int64_t next : capture.nodes[k].next) {
      if (next >= 0 && seen.insert(next).second) todo.push_back(next);
    }
  }
  return false;
}

void GraphReader::finish_remarks() {
  if (!capture_.left_out.empty()) {
    capture_.remarks.push_back(
        "left out, as options.shared_terms asks: terms of the losses that "
        "have one value for all samples (" +
        joined(capture_.left_out) + ")");
  }
  if (!unread_.empty()) {
    capture_.row_remarks.push_back("where the samples sit below " + joined(unread_) +
                                   " is not known, nor whether they are coupled there");
  }
  if (!capture_.couplings.empty()) {
    capture_.row_remarks.push_back(
        "samples are coupled by " + joined(capture_.couplings) +
        ": a loss depends on other samples too. Rows are the gradients of losses[n]; what takes "
        "them for independent draws (variance, norm, inner-product and orthogonality test, noise "
        "scale, signal-to-noise ratios, cabs, early stopping) loses its meaning");
  }
}

void GraphReader::finish_slow() {
  for (auto& parameter : capture_.parameters) {
    if (parameter.leaf < 0) continue;
    // This parameter is in the graph, but only below terms that were left out.
    if (capture_.nodes[parameter.leaf].side == Side::kNone) parameter.leaf = -1;
    if (parameter.leaf < 0) continue;
    if (capture_.nodes[parameter.leaf].side != Side::kSlow) continue;
    const std::string& reason = slow_reason_[parameter.leaf];
    parameter.is_slow = true;
    parameter.reason = reason;
    if (capture_.is_scalar && capture_.N > 1 && parameter.refusal.empty()) {
      parameter.refusal = "gradients: " + reason +
                          ", and a scalar loss cannot be taken apart sample by sample; hand over "
                          "the individual losses [N] instead of a scalar and batch_size " +
                          std::to_string(capture_.N);
    }
  }
  for (size_t k = capture_.nodes.size(); k-- > 0;) {
    CapturedNode& captured = capture_.nodes[k];
    captured.leads_to_slow =
        captured.parameter >= 0 && capture_.parameters[captured.parameter].is_slow;
    for (int64_t next : captured.next) {
      if (next >= 0 && capture_.nodes[next].leads_to_slow) captured.leads_to_slow = true;
    }
  }
}

void GraphReader::count_handing_edges() {
  for (CapturedNode& captured : capture_.nodes) {
    for (size_t e = 0; e < captured.next.size(); ++e) {
      if (captured.next[e] < 0) continue;
      CapturedNode& next = capture_.nodes[captured.next[e]];
      const bool hands_on =
          captured.edges[e] == EdgeKind::kUse || captured.edges[e] == EdgeKind::kFree;
      if (!hands_on) continue;
      if (next.side == Side::kFree) {
        ++next.handing_edges;
      } else {
        captured.edges[e] = EdgeKind::kSlow;  // its rows come from the slow pass as a whole
      }
    }
  }
}

}  // namespace flightdeck
