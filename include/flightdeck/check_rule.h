// SPDX-License-Identifier: MIT
// Holds what a rule says of an op against the op's own node. Call it in the tests of your rules.
#pragma once

#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "flightdeck/parameters.h"

namespace flightdeck {

/// One thing that a rule says of a node and the node does not.
struct RuleDifference {
  std::string node;  ///< its name
  std::string what;  ///< "rows of input 1", "columns of input 0", "tangent", "samples of input 0"
  double error = 0;  ///< largest difference relative to the largest entry; NaN where shapes differ
  std::string detail;  ///< for people: both values
};

struct RuleCheck {
  std::string rule;
  std::vector<std::string> checked;  ///< "MyOpBackward: rows of input 1"; each once
  std::vector<RuleDifference> differences;

  bool is_right() const { return differences.empty(); }
  /// One line for each thing that was compared or differs.
  std::string text() const;
};

/// Compares the rule with this name with every node that it explains in the graph behind `losses`
/// [N]: where samples sit, rows, columns, tangent, bend, and what it says to be linear or
/// pointwise. What the rule leaves to the node is not compared. Random gradients and tangents have
/// a generator of their own; nothing is changed.
///
/// Use a graph in double, where 1e-9 is tolerated (1e-5 in other types), of at least two samples,
/// and one op per way in which the rule is used. Throws if there is no such rule, or no node that
/// it explains.
[[nodiscard]] RuleCheck check_rule(const std::string& rule,
                                   const Tensor& losses,
                                   const Parameters& parameters);

}  // namespace flightdeck
