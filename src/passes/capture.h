// SPDX-License-Identifier: MIT
// What the engine knows about a graph before a gradient flows: which parts carry samples and where,
// where parameters enter, and what must go the slow way.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "flightdeck/batch.h"
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
  Layout layout;                 // of the outputs, on the batch side
  bool couples_samples = false;  // training-mode batch norm: the caller's policy decides
  std::vector<EdgeKind> edges;
  std::vector<int64_t> next;   // position of the node each edge leads to, or -1
  int64_t parameter = -1;      // for leaves
  int64_t handing_edges = 0;   // parameter side: those over which rows are handed to it
  bool leads_to_slow = false;  // some slow parameter lies below
};

// A shared term is a summand of the losses that has one value for all samples: what enters node
// `position` at `edge`.
struct SharedTerm {
  size_t position;
  size_t edge;
  std::string op;  // that ends it
};

// A sample term is a term of a scalar loss that is reduced from samples.
struct SampleTerm {
  size_t position;  // of the node that reduces them
  double factor;    // of its output in the loss; NaN if it is not known
};

// Describes a training-mode batch norm.
struct CoupledLayer {
  std::string op;
  std::string layer;  // "'bn1' with parameter 'bn1.weight'"
};

struct CapturedParameter {
  int64_t leaf = -1;     // position of its node; -1: the losses do not depend on it
  bool is_slow = false;  // its rows come from one backward pass per sample
  std::string reason;    // why; empty for a batch of one, where that is the fastest way
  std::string refusal;   // why it has no answer, whatever the policy
};

// Holds what is true for every choice of samples and every policy: what a pass makes of it is said
// by the functions below. It does not keep the graph alive.
struct Capture {
  int64_t N = 0;
  bool is_scalar = false;
  size_t root_output = 0;           // the losses are this output of nodes.front()
  std::vector<CapturedNode> nodes;  // consumers before producers
  std::unordered_map<const compat::ag::Node*, size_t> position;
  std::vector<CapturedParameter> parameters;
  std::vector<SharedTerm> shared_terms;      // that are part of the losses
  std::vector<std::string> left_out;         // ops that end a shared term that is not
  std::vector<std::string> couplings;        // ops through which a loss depends on other samples
  std::vector<std::string> remarks;          // on whatever is asked of the losses
  std::vector<std::string> row_remarks;      // on individual gradients, whatever the policy
  std::vector<CoupledLayer> coupled_layers;  // from the losses down
  std::vector<SampleTerm> sample_terms;      // of a scalar loss
  std::string hidden_graph;  // why a part of the model cannot be seen; empty if all can
  std::string scalar_error;  // why a scalar loss cannot be taken apart; empty if it can

  NodeView view(size_t k) const { return NodeView(nodes[k].node); }
  bool is_shared_term(size_t k, size_t edge) const;
  // Returns the ops that end the shared terms, for people.
  std::vector<std::string> shared_term_names() const;
  // Returns true if the node's statistics are taken as constants.
  bool holds_statistics(size_t k, BatchNormPolicy policy) const {
    return nodes[k].couples_samples && policy == BatchNormPolicy::kConstantStatistics;
  }
  // Returns true if the gradients differ from those of the caller's own backward pass.
  bool needs_own_pass(BatchNormPolicy policy) const {
    return !coupled_layers.empty() && policy == BatchNormPolicy::kConstantStatistics;
  }
};

// Holds what capture_graph reads beside losses and parameters.
struct CaptureOptions {
  int64_t batch_size = 0;
  Reduction reduction = Reduction::kMean;
  SharedTerms shared_terms = SharedTerms::kKeep;
};

// Reads the graph behind `losses`. Throws on bad input; refusals are recorded.
Capture capture_graph(const Tensor& losses,
                      const Parameters& parameters,
                      const CaptureOptions& options = {});

// Returns the capture that all copies of the batch share, made by the first call.
std::shared_ptr<const Capture> capture_of(const Batch& batch);

// Counts the graphs that this process has read, for tests.
int64_t graphs_captured();

// Throws unless all chosen samples are in the batch; names the caller and its field.
void check_samples(const Capture& capture,
                   const std::vector<int64_t>& samples,
                   const char* caller,
                   const char* field);

// Throws if the samples of a scalar loss were not found.
void check_scalar(const Capture& capture);

// Throws if a part of the model cannot be seen: its nodes must not be called.
void check_visible(const Capture& capture);

// Says why a parameter has no individual gradients; empty if it has.
std::string refusal_of(const Capture& capture, size_t parameter, BatchNormPolicy policy);

// Throws the first refusal, if any.
void throw_refusals(const Capture& capture, BatchNormPolicy policy);

// Returns what there is to say about individual gradients.
std::vector<std::string> row_remarks(const Capture& capture, BatchNormPolicy policy);

}  // namespace flightdeck
