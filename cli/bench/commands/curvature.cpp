// SPDX-License-Identifier: MIT
// flightdeck bench curvature: what second-order quantities cost beside the plain gradient.
#include <memory>

#include <CLI/CLI.hpp>

#include "cli/bench/bench_command.h"
#include "cli/bench/second_order.h"
#include "cli/command.h"

namespace flightdeck::cli {

namespace {

void add_bench_curvature(CLI::App* command) {
  const auto options = std::make_shared<BenchOptions>();
  add_bench_options(*command, *options, second_order_quantities());
  command->callback([options, command] {
    check_bench_options(*command, *options);
    run_bench(*command, *options, "curvature", second_order_quantities());
  });
}

}  // namespace

Command bench_curvature_command() {
  return {
      "curvature",
      "Time curvature quantities against the plain gradient (forward, mean loss, backward) of the "
      "same batch, in turn in one process. A candidate is a forward pass and all that the quantity "
      "needs; the plain gradient is not computed beside it.",
      10,
      &add_bench_curvature};
}

}  // namespace flightdeck::cli
