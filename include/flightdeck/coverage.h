// SPDX-License-Identifier: MIT
// How each parameter's individual gradients were obtained: no slow path and no refusal is silent.
#pragma once

#include <string>
#include <vector>

namespace flightdeck {

enum class CoverageLevel {
  kExactFast,  ///< every use has a fast rule; rows stay in factored form
  kExactSlow,  ///< at least one use needed one backward pass (or node call) per sample
  kRefused,    ///< no right answer exists or none could be computed; see `reason`
  kUnused,     ///< the losses do not depend on the parameter; its rows are zero
};

/// One place where a parameter enters an op.
struct UseCoverage {
  std::string op;         ///< name of the autograd node, e.g. "AddmmBackward0"
  std::string form;       ///< outer, convolution, sum, scale, gather or dense
  std::string algorithm;  ///< what was chosen for this step's needs, e.g. "norms: gram [T=36]"
};

struct ParameterCoverage {
  std::string name;
  CoverageLevel level = CoverageLevel::kUnused;
  std::vector<UseCoverage> uses;
  std::string reason;  ///< why the level is not kExactFast; empty otherwise
  /// Under a watch: the ops through which gradient reaches the parameter past the losses (a penalty
  /// added outside, a second loss). It is in `.grad` and not in the rows.
  std::vector<std::string> elsewhere;
};

struct Coverage {
  std::vector<ParameterCoverage> parameters;
  std::vector<std::string> couplings;     ///< ops that let a loss depend on other samples
  std::vector<std::string> shared_terms;  ///< ops that end a term all samples share
  bool leaves_out_shared_terms = false;

  /// A table for people, one line per use; each refusal once below it.
  std::string text() const;
};

/// "exact-fast", "exact-slow", "refused" or "unused".
const char* to_string(CoverageLevel level);

/// An op with a fast rule, and the autograd nodes that the rule explains.
struct OpRule {
  std::string name;                ///< of the rule: "linear"
  std::vector<std::string> nodes;  ///< "AddmmBackward0", ...
};

/// All of them, by name. A node that is not among them is slower and exact all the same.
std::vector<OpRule> ops_with_rules();

}  // namespace flightdeck
