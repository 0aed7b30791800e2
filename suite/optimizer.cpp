// SPDX-License-Identifier: MIT
#include "suite/optimizer.h"

#include <sstream>

#include <torch/torch.h>

#include "suite/find_entry.h"

namespace flightdeck::suite {
namespace optimizers {

#define FLIGHTDECK_ENTRY(name) OptimizerEntry name();
#include "flightdeck/optimizers.inc"
#undef FLIGHTDECK_ENTRY

}  // namespace optimizers

namespace {

bool is_within(const Hyperparameter& parameter, double value) {
  const bool is_high_enough =
      parameter.includes_low ? value >= parameter.low : value > parameter.low;
  const bool is_low_enough =
      parameter.includes_high ? value <= parameter.high : value < parameter.high;
  return is_high_enough && is_low_enough;  // false for NaN
}

}  // namespace

std::string Hyperparameter::range() const {
  std::ostringstream text;
  text << (includes_low ? '[' : '(') << low << ", " << high << (includes_high ? ']' : ')');
  return text.str();
}

Hyperparameters OptimizerEntry::complete(const Hyperparameters& given) const {
  Hyperparameters values;
  for (const Hyperparameter& parameter : hyperparameters) values[parameter.name] = parameter.value;
  for (const auto& [key, value] : given) {
    const Hyperparameter parameter =
        find_entry(hyperparameters, key, "hyperparameter of " + name + " called");
    TORCH_CHECK_VALUE(is_within(parameter, value),
                      name,
                      ": ",
                      key,
                      " is ",
                      value,
                      " but must be in ",
                      parameter.range(),
                      "; the default is ",
                      parameter.value);
    values[key] = value;
  }
  return values;
}

std::shared_ptr<torch::optim::Optimizer> OptimizerEntry::make(std::vector<Tensor> parameters,
                                                              const Hyperparameters& given) const {
  return create(std::move(parameters), complete(given));
}

const std::vector<OptimizerEntry>& all_optimizers() {
  static const std::vector<OptimizerEntry> table = {
#define FLIGHTDECK_ENTRY(name) optimizers::name(),
#include "flightdeck/optimizers.inc"
#undef FLIGHTDECK_ENTRY
  };
  return table;
}

const OptimizerEntry& find_optimizer(const std::string& name) {
  return find_entry(all_optimizers(), name, "optimizer");
}

}  // namespace flightdeck::suite
