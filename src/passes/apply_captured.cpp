// SPDX-License-Identifier: MIT
#include "passes/apply_captured.h"

#include <utility>

namespace flightdeck {

bool hands_on(const CapturedNode& captured) { return captured.rule && captured.rule->hands_on(); }

variable_list apply_captured(const CapturedNode& captured,
                             variable_list gradients,
                             const std::vector<bool>& wanted) {
  if (!hands_on(captured)) return apply_node(captured.node, std::move(gradients), wanted);
  variable_list results(wanted.size());
  for (size_t e = 0; e < wanted.size() && e < gradients.size(); ++e) {
    if (wanted[e]) results[e] = std::move(gradients[e]);
  }
  return results;
}

}  // namespace flightdeck
