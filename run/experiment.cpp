// SPDX-License-Identifier: MIT
#include "run/experiment.h"

#include <c10/util/Exception.h>

#include "base/words.h"

namespace flightdeck::run {
namespace experiments {

#define FLIGHTDECK_ENTRY(name) Experiment name();
#include "flightdeck/experiments.inc"
#undef FLIGHTDECK_ENTRY

}  // namespace experiments

namespace {

struct ChosenSize {
  Size size;
  const char* name;
  int64_t value;
};

std::vector<ChosenSize> sizes_of(const ExperimentOptions& options) {
  return {{Size::kSteps, "steps", options.steps},
          {Size::kSeeds, "seeds", options.seeds},
          {Size::kSamples, "samples", options.samples}};
}

}  // namespace

void check_sizes(const Experiment& experiment, const ExperimentOptions& options) {
  TORCH_CHECK(!options.published || !experiment.published.empty(),
              "experiment: options.published is set but ",
              experiment.name,
              " has no size beyond its default; leave it out");
  TORCH_CHECK(!options.published || !options.quick,
              "experiment: options.published asks for the whole size and quick for that of a test; "
              "leave one of them out");
  for (const auto& [size, name, value] : sizes_of(options)) {
    TORCH_CHECK(value >= 0, "experiment: options.", name, " is ", value, " but must be at least 1");
    if (value == 0 || experiment.sizes.count(size) != 0) continue;
    std::vector<std::string> names;
    for (const ChosenSize& each : sizes_of(options)) {
      if (experiment.sizes.count(each.size) != 0) names.push_back(each.name);
    }
    TORCH_CHECK(false,
                "experiment: options.",
                name,
                " is ",
                value,
                " but the number of ",
                name,
                " of ",
                experiment.name,
                " cannot be chosen; ",
                names.empty() ? "leave it out" : "it takes " + joined(names));
  }
}

ExperimentResult repeated(const Experiment& experiment, const ExperimentOptions& options) {
  check_sizes(experiment, options);
  ExperimentResult result = experiment.run(options);
  if (options.published) result.data.push_back("size as published: " + experiment.published);
  std::vector<std::string> chosen;
  for (const auto& [size, name, value] : sizes_of(options)) {
    if (value > 0) chosen.push_back(std::to_string(value) + " " + name);
  }
  if (!chosen.empty()) result.data.push_back("size as chosen: " + joined(chosen));
  return result;
}

const std::vector<Experiment>& all_experiments() {
  static const std::vector<Experiment> table = {
#define FLIGHTDECK_ENTRY(name) experiments::name(),
#include "flightdeck/experiments.inc"
#undef FLIGHTDECK_ENTRY
  };
  return table;
}

}  // namespace flightdeck::run
