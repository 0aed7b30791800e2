// SPDX-License-Identifier: MIT
#include "suite/optimizer.h"

#include <cmath>
#include <sstream>

#include <c10/util/Exception.h>

#include "suite/find_entry.h"

namespace flightdeck::suite {
namespace optimizers {

#define FLIGHTDECK_ENTRY(name) OptimizerEntry name();
#include "flightdeck/optimizers.inc"
#undef FLIGHTDECK_ENTRY

}  // namespace optimizers

namespace {

bool is_allowed(const Hyperparameter& parameter, double value) {
  if (parameter.is_whole && value != std::floor(value)) return false;
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
  return (is_whole ? "the whole numbers of " : "") + text.str();
}

void Hyperparameter::check(const std::string& optimizer, double given) const {
  TORCH_CHECK_VALUE(is_allowed(*this, given),
                    optimizer,
                    ": ",
                    name,
                    " is ",
                    given,
                    " but must be in ",
                    range(),
                    "; the default is ",
                    value);
}

std::string to_string(const Search& search) {
  using Kind = Search::Kind;
  if (search.kind == Kind::kFixed) return "fixed";
  std::ostringstream all;
  if (search.kind == Kind::kOneOf) {
    for (const double choice : search.choices) {
      all << (all.tellp() == 0 ? "one of " : ", ") << choice;
    }
    return all.str();
  }
  if (search.is_complement) all << "1 - value ";
  all << (search.kind == Kind::kLogUniform ? "log-uniform" : "uniform over whole numbers")
      << " in [" << search.low << ", " << search.high << ']';
  return all.str();
}

Hyperparameters OptimizerEntry::complete(const Hyperparameters& given) const {
  Hyperparameters values;
  for (const Hyperparameter& parameter : hyperparameters) values[parameter.name] = parameter.value;
  for (const auto& [key, value] : given) {
    const Hyperparameter parameter =
        find_entry(hyperparameters, key, "hyperparameter of " + name + " called");
    parameter.check(name, value);
    values[key] = value;
  }
  return values;
}

std::shared_ptr<torch::optim::Optimizer> OptimizerEntry::make(std::vector<Tensor> parameters,
                                                              const Hyperparameters& given) const {
  return create(std::move(parameters), complete(given));
}

const std::vector<OptimizerEntry>& first_order_optimizers() {
  static const std::vector<OptimizerEntry> table = {
#define FLIGHTDECK_ENTRY(name) optimizers::name(),
#include "flightdeck/optimizers.inc"
#undef FLIGHTDECK_ENTRY
  };
  return table;
}

}  // namespace flightdeck::suite
