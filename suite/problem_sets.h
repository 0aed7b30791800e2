// SPDX-License-Identifier: MIT
// Problems that are compared together, by name.
#pragma once

#include <string>
#include <vector>

namespace flightdeck::suite {

struct ProblemSet {
  std::string name;
  std::string summary;
  std::vector<std::string> problems;
};

/// Returns sets of the published comparison, in its order: "benchmark", all of it, and "small" and
/// "large", its places 1 to 4 and 5 to 8.
std::vector<ProblemSet> problem_sets();

}  // namespace flightdeck::suite
