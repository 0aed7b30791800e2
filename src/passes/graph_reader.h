// SPDX-License-Identifier: MIT
// Walks a graph from the losses down and tells which parts carry samples and where, where
// parameters enter and what must go the slow way.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "graph/topology.h"
#include "passes/capture.h"
#include "passes/scalar_terms.h"

namespace flightdeck {

class GraphReader {
 public:
  using Edges = std::set<std::pair<size_t, size_t>>;  // node, edge

  // Prepares the reading of a graph in which nothing flows over `cuts`. Topology and parameters
  // must outlive this.
  GraphReader(const Tensor& losses,
              const Parameters& parameters,
              const CaptureOptions& options,
              const Topology& topology,
              Edges cuts);

  // Reads the graph; call once. The capture's `position` is left to the caller, who has the
  // topology.
  Capture run();

  // Returns the shared terms of what was read, unless samples lie below: then they couple the
  // samples and are none.
  Edges shared_terms(const Capture& capture) const;

 private:
  // ---- nodes and where their samples sit ----
  void read_nodes();
  void take_whole();
  Layout layout_of(size_t k) const;
  void classify(size_t k);
  void share(size_t k, size_t next);
  void look_for_samples(const CapturedNode& captured);
  void classify_edge(size_t k, size_t e);
  void note_shared_term(size_t k, size_t e);
  void use(size_t k, size_t e);
  void follow(size_t k, size_t e, const Layout& layout);
  void mark_slow(CapturedNode& captured, size_t e, const std::string& reason);
  Layout decouple(CapturedNode& captured, const NodeView& view, size_t edge);
  bool leads_only_to_parameters(size_t k) const;

  // ---- a scalar loss ----
  void classify_scalar_edge(size_t k, size_t e);
  bool carries_samples(const CapturedNode& captured, size_t e);
  bool is_multiple(const CapturedNode& captured, size_t e);
  std::string scalar_error() const;

  // ---- what follows from it ----
  bool has_samples_below(const Capture& capture, size_t root) const;
  void finish_remarks();
  void finish_slow();
  void count_handing_edges();

  const Parameters& parameters_;
  Edges cuts_;
  const Topology& topology_;
  int64_t N_;
  ScalarTerms scalar_terms_;
  ReductionReading reading_;
  Capture capture_;
  std::vector<bool> reaches_;
  std::vector<std::vector<Layout>> outputs_;
  std::vector<bool> is_free_;
  std::vector<bool> is_summand_;        // reached from the losses over summands alone
  std::vector<double> factor_;          // of those: what they are multiplied by on the way
  std::vector<std::string> shared_by_;  // the op that uses a free node's output for all samples
  std::vector<std::string>
      scattered_by_;  // the op that picks lines of a node's output in any order
  std::vector<std::string> slow_reason_;
  std::vector<std::string> unread_;  // ops that end what is known of the samples
};

}  // namespace flightdeck
