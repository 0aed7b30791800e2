// SPDX-License-Identifier: MIT
// What the engine knows about a graph before a gradient flows: which parts carry samples and where,
// where parameters enter, and what must go the slow way.
#pragma once

#include <string>
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
  std::vector<CapturedParameter> parameters;
  std::vector<std::string> remarks;
  bool runs_own_pass = false;  // gradients differ from the caller's own: no watching

  NodeView view(size_t position) const { return NodeView(nodes[position].node); }
};

/// Reads the graph behind `losses`. Throws on bad input; refusals are recorded per parameter.
Capture capture_graph(const Tensor& losses,
                      const Parameters& parameters,
                      const GradientOptions& options);

/// Throws, naming the caller and its field, unless all chosen samples are in the batch.
void check_samples(const Capture& capture,
                   const std::vector<int64_t>& samples,
                   const char* caller,
                   const char* field);

/// Throws the first refusal, if any.
void throw_refusals(const Capture& capture);

}  // namespace flightdeck
