// SPDX-License-Identifier: MIT
// What one process of several does that train together over Gloo. How it comes by a group of Gloo's
// is up to the program: gloo_process makes it in C++, python_group takes one that Python has made.
#pragma once

#include <memory>
#include <string>

#include "flightdeck/ranks.h"

namespace flightdeck::tests {

// "all" compares every quantity with one process that has all samples, "fails" has a quantity fail
// on one rank, "gone" has the last rank leave without a word after the first step, and "killed" has
// it killed there. "data_set_killed" kills the last rank in the third product of eigenpairs whose
// products are kept in `folder`, "data_set" takes them up. Returns 0 if all is as it has to be.
int run_rank(const std::shared_ptr<Ranks>& ranks,
             const std::string& what,
             const std::string& folder);

// Returns true if a rank leaves: the others are to notice soon.
bool loses_a_rank(const std::string& what);

}  // namespace flightdeck::tests
