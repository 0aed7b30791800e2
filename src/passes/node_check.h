// SPDX-License-Identifier: MIT
// What a rule says of one node, held against the node itself. For the tests of our rules and for
// those of users (flightdeck/check_rule.h).
#pragma once

#include <string>
#include <vector>

#include "flightdeck/check_rule.h"
#include "rules/rule.h"

namespace flightdeck {

// Adds to the check what was compared and what differs. `layout` is where the samples sit in the
// output; rows and samples are compared where it is a batch. Random numbers are drawn from `seed`.
void check_node(const Rule& rule,
                compat::ag::Node* node,
                const Layout& layout,
                uint64_t seed,
                RuleCheck& check);

}  // namespace flightdeck
