// SPDX-License-Identifier: MIT
// flightdeck bench curvature: what second-order quantities cost beside the plain gradient.
#include <memory>

#include <CLI/CLI.hpp>

#include "cli/bench_command.h"
#include "cli/commands.h"
#include "cli/second_order.h"

namespace flightdeck::cli {

void add_bench_curvature(CLI::App& bench) {
  const auto options = std::make_shared<BenchOptions>();
  CLI::App* command = bench.add_subcommand(
      "curvature",
      "Time curvature quantities against the plain gradient (forward, mean loss, backward) of the "
      "same batch, in turn in one process. A candidate is a forward pass and all that the quantity "
      "needs; the plain gradient is not computed beside it.");
  add_bench_options(*command, *options, second_order_quantities());
  command->callback([options, command] {
    check_bench_options(*command, *options);
    run_bench(*command, *options, "curvature", second_order_quantities());
  });
}

}  // namespace flightdeck::cli
