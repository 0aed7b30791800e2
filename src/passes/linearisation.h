// SPDX-License-Identifier: MIT
// The derivative of a captured graph at the batch it was recorded on, node by node: stacks of
// gradients go back, stacks of tangents go forward, and each node adds its own second derivative.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "graph/apply_node.h"
#include "passes/capture.h"

namespace flightdeck {

class Linearisation {
 public:
  // Reads the capture, which must outlive this.
  Linearisation(const Capture& capture, BatchNormPolicy batch_norm);

  const Capture& capture() const { return capture_; }

  // Applies Jᵀ to stacks [K, *output shape], one per output (undefined: zero); returns [K, *input
  // shape] per wanted edge. Stacks that are not read again may be changed.
  variable_list columns(size_t position,
                        const variable_list& stacks,
                        std::vector<bool> wanted,
                        bool is_read_again = true);

  // Applies J to stacks [V, *input shape], one per edge; returns [V, *output shape] per output.
  variable_list tangents(size_t position, const variable_list& stacks);

  // Computes the second derivative of <gradients, outputs>, times tangents: [V, *input shape] per
  // wanted edge, undefined where it vanishes.
  variable_list bends(size_t position,
                      const variable_list& gradients,
                      const variable_list& tangents,
                      const std::vector<bool>& wanted);

  // Returns true if the node maps one input entry by entry. A complex entry is two numbers that
  // meet.
  bool is_elementwise(size_t position) const;
  // Returns the one edge an elementwise node has.
  size_t elementwise_edge(size_t position) const;
  // Returns phi'(x) of a pointwise node with respect to the input at `edge`.
  const Tensor& slope(size_t position, size_t edge);
  // Returns phi''(x) times the gradient of an elementwise node; undefined if it vanishes
  // everywhere.
  Tensor elementwise_bend(size_t position, const variable_list& gradients) const;

  // Returns true if the node has no second derivative.
  bool is_linear(size_t position) const;

  // Returns the nodes that were applied once per column for want of a rule.
  const std::set<std::string>& one_by_one() const { return one_by_one_; }

 private:
  // Returns the rule whose arithmetic holds for the node's entries, or null.
  const Rule* rule_at(size_t position) const;
  Tensor columns_by_rule(size_t position, size_t edge, const Tensor& stack, bool is_read_again);
  bool has_slope(size_t position, size_t edge) const;

  const Capture& capture_;
  BatchNormPolicy batch_norm_;
  std::vector<std::vector<bool>> is_used_;  // outputs that some node reads
  std::map<std::pair<size_t, size_t>, Tensor> slopes_;
  std::set<std::string> one_by_one_;
};

// Tells where a stack enters: output `output` of the node at `position`.
struct Seed {
  size_t position;
  size_t output;
  Tensor stack;
  Layout layout;  // of one column
};

using FollowsEdge = std::function<bool(const CapturedNode&, size_t edge)>;

// Propagates stacks from their seeds over the edges for which `follows` is true. `visit` sees each
// node's stacks before it is applied.
void walk_columns(Linearisation& linearisation,
                  const std::vector<Seed>& seeds,
                  const FollowsEdge& follows,
                  const std::function<void(size_t position, const variable_list& stacks)>& visit);

// Splits stacks into lists of outputs, one list per column.
std::vector<variable_list> split_columns(const variable_list& stacks);

}  // namespace flightdeck
