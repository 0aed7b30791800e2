// SPDX-License-Identifier: MIT
// The catalogue of curvature optimizers and the one of all.
#include <algorithm>

#include "suite/find_entry.h"
#include "suite/optimizer.h"

namespace flightdeck::suite {
namespace optimizers {

#define FLIGHTDECK_ENTRY(name) OptimizerEntry name();
#include "flightdeck/curvature_optimizers.inc"
#undef FLIGHTDECK_ENTRY

}  // namespace optimizers

const std::vector<OptimizerEntry>& curvature_optimizers() {
  static const std::vector<OptimizerEntry> table = {
#define FLIGHTDECK_ENTRY(name) optimizers::name(),
#include "flightdeck/curvature_optimizers.inc"
#undef FLIGHTDECK_ENTRY
  };
  return table;
}

const std::vector<OptimizerEntry>& all_optimizers() {
  static const std::vector<OptimizerEntry> table = [] {
    std::vector<OptimizerEntry> all = first_order_optimizers();
    all.insert(all.end(), curvature_optimizers().begin(), curvature_optimizers().end());
    std::sort(all.begin(), all.end(), [](const OptimizerEntry& a, const OptimizerEntry& b) {
      return a.name < b.name;
    });
    return all;
  }();
  return table;
}

const OptimizerEntry& find_optimizer(const std::string& name) {
  return find_entry(all_optimizers(), name, "optimizer");
}

}  // namespace flightdeck::suite
