// SPDX-License-Identifier: MIT
// Search spaces of optimizers as plain data, draws from them, and their refinement.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "suite/search.h"

namespace flightdeck::study {

using suite::Search;
using Values = std::map<std::string, double>;  // hyperparameters by name

// One hyperparameter.
struct Dimension {
  std::string name;
  Search search;
  double value = 0;  // default

  // Returns the value at `share` of the distribution: a uniform share in [0, 1) gives a draw. Keeps
  // six digits of it, because logarithms differ in the last ones between machines.
  double value_at(double share) const;
};

// A hyperparameter that is fixed, or not named in a grid, has its default.
using Space = std::vector<Dimension>;

Values defaults(const Space& space);

// Makes `count` independent draws; the first ones are the same whatever the count.
std::vector<Values> draws(const Space& space,
                          int64_t count,
                          uint64_t seed,
                          const std::string& purpose);

// Returns the smallest box that holds all of `best`, with the same distributions.
Space refined(const Space& space, const std::vector<Values>& best);

const char* to_string(Search::Kind kind);
// Throws std::runtime_error if the text names no kind.
Search::Kind kind_from(const std::string& text);

}  // namespace flightdeck::study
