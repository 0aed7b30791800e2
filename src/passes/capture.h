// SPDX-License-Identifier: MIT
// What the engine knows about a graph before a gradient flows: which parts carry samples and where,
// where parameters enter, and what must go the slow way.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "flightdeck/gradients.h"
#include "graph/layout.h"
#include "graph/torch_compat.h"
#include "rules/rule.h"

namespace flightdeck {

enum class Side {
  kNone,   // leads to no parameter asked for
  kBatch,  // its outputs carry samples
  kFree,   // parameter side: its outputs do not
  kSlow,   // below an op the engine has no rule for
};

enum class EdgeKind {
  kNone,
  kBatch,  // samples on both sides
  kUse,    // samples above, parameter side below: rows arise here
  kFree,   // parameter side
  kSlow,   // into a slow part
};

struct CapturedNode {
  compat::ag::Node* node = nullptr;
  const Rule* rule = nullptr;
  Side side = Side::kNone;
  Layout layout;                  // of the outputs, on the batch side
  bool holds_statistics = false;  // batch norm under kConstantStatistics
  std::vector<EdgeKind> edges;
  std::vector<int64_t> next;   // position of the node each edge leads to, or -1
  int64_t parameter = -1;      // for leaves
  int64_t arrivals = 0;        // parameter side: edges over which rows arrive
  bool leads_to_slow = false;  // some slow parameter lies below
};

// A summand of the losses that has one value for all samples: what enters node `position` at
// `edge`.
struct SharedTerm {
  size_t position;
  size_t edge;
  std::string op;  // that ends it
};

struct CapturedParameter {
  int64_t leaf = -1;     // position of its node; -1: the losses do not depend on it
  bool is_slow = false;  // its rows come from one backward pass per sample
  std::string reason;    // why; empty for a batch of one, where that is the fastest way
  std::string refusal;   // why it has no answer
};

struct Capture {
  int64_t N = 0;
  bool is_scalar = false;
  size_t root_output = 0;           // the losses are this output of nodes.front()
  std::vector<CapturedNode> nodes;  // consumers before producers
  std::unordered_map<const compat::ag::Node*, size_t> position;
  std::vector<CapturedParameter> parameters;
  std::vector<SharedTerm> shared_terms;  // that are part of the losses
  std::vector<std::string> left_out;     // ops that end a shared term that is not
  std::vector<std::string> couplings;    // ops through which a loss depends on other samples
  std::vector<std::string> remarks;      // on whatever is asked of the losses
  std::vector<std::string> row_remarks;  // on individual gradients
  bool runs_own_pass = false;            // gradients differ from the caller's own: no watching

  NodeView view(size_t k) const { return NodeView(nodes[k].node); }
  bool is_shared_term(size_t k, size_t edge) const;
  /// The ops that end the shared terms, for people.
  std::vector<std::string> shared_term_names() const;
};

/// Reads the graph behind `losses`. Throws on bad input; refusals are recorded per parameter.
/// Without `needs_samples` a scalar loss may be of any form.
Capture capture_graph(const Tensor& losses,
                      const Parameters& parameters,
                      const GradientOptions& options,
                      bool needs_samples = true);

/// Throws, naming the caller and its field, unless all chosen samples are in the batch.
void check_samples(const Capture& capture,
                   const std::vector<int64_t>& samples,
                   const char* caller,
                   const char* field);

/// Throws the first refusal, if any.
void throw_refusals(const Capture& capture);

}  // namespace flightdeck
