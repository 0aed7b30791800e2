// SPDX-License-Identifier: MIT
#include "cli/bench/overhead.h"

#include "cli/machine/peak_memory.h"

namespace flightdeck::cli {
namespace {

// Returns the most memory that a few steps of a new training hold at one time, beside its data and
// model.
std::optional<int64_t> peak_of_training(const OverheadOptions& options,
                                        const std::vector<Quantity>* quantities) {
  run::Training training(options.training);
  return peak_bytes(options.training.device, [&] {
    std::unique_ptr<Cockpit> cockpit;
    if (quantities != nullptr) {
      cockpit = std::make_unique<Cockpit>(
          training.parameters(), *quantities, strict_options(options.grouping));
    }
    // This takes two tracked steps, and the step that completes the second.
    take_steps(training, cockpit.get(), options.interval + 2);
  });
}

}  // namespace

CockpitOptions strict_options(const Grouping& grouping) {
  CockpitOptions options;
  options.grouping = grouping;
  options.strict = true;
  return options;
}

void take_steps(run::Training& training, Cockpit* cockpit, int64_t count) {
  for (int64_t k = 0; k < count; ++k) training.step(cockpit);
}

Timing measure_overhead(const OverheadOptions& options,
                        const std::vector<Quantity>& quantities,
                        const std::function<void(int block)>& on_block) {
  run::Training plain(options.training), watched(options.training);
  Cockpit cockpit(watched.parameters(), quantities, strict_options(options.grouping));
  Timings timings;
  for (int block = -options.warm_up; block < options.blocks; ++block) {
    const auto [alone, ms] = milliseconds_in_turn(
        options.training.device,
        block,
        [&] { take_steps(plain, nullptr, options.interval); },
        [&] { take_steps(watched, &cockpit, options.interval); });
    const auto steps = static_cast<double>(options.interval);
    if (block >= 0) timings.add(alone / steps, ms / steps);
    on_block(block);
  }
  Timing timing = timings.medians();
  const auto plain_peak = peak_of_training(options, nullptr);
  const auto peak = peak_of_training(options, &quantities);
  if (plain_peak && peak) timing.peak_mb = static_cast<double>(*peak - *plain_peak) / 1e6;
  return timing;
}

}  // namespace flightdeck::cli
