// SPDX-License-Identifier: MIT
// The catalogue of curvature optimizers and the one of all, which a program can add to.
#include <c10/util/Exception.h>

#include "suite/entry_registry.h"
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

namespace {

Registry<OptimizerEntry>& optimizer_registry() {
  static auto* registry = [] {
    std::vector<OptimizerEntry> all = first_order_optimizers();
    all.insert(all.end(), curvature_optimizers().begin(), curvature_optimizers().end());
    return new Registry<OptimizerEntry>(std::move(all));
  }();
  return *registry;
}

}  // namespace

std::vector<OptimizerEntry> all_optimizers() { return optimizer_registry().all(); }

const OptimizerEntry& find_optimizer(const std::string& name) {
  return find_entry(optimizer_registry(), name, "optimizer");
}

bool register_optimizer(OptimizerEntry entry) {
  TORCH_CHECK_VALUE(entry.create,
                    "register_optimizer: the optimizer '",
                    entry.name,
                    "' has no function create; set it");
  const std::string first = entry.hyperparameters.empty() ? "" : entry.hyperparameters.front().name;
  TORCH_CHECK_VALUE(first == "learning_rate",
                    "register_optimizer: the first hyperparameter of '",
                    entry.name,
                    "' is '",
                    first,
                    "' but must be 'learning_rate', which schedules change");
  return add_entry(optimizer_registry(), std::move(entry), "register_optimizer", "optimizer");
}

}  // namespace flightdeck::suite
