// SPDX-License-Identifier: MIT
// flightdeck bench first-order: what a quantity costs beside the plain gradient.
#include <memory>

#include <CLI/CLI.hpp>

#include "cli/bench_command.h"
#include "cli/commands.h"
#include "cli/first_order.h"

namespace flightdeck::cli {
namespace {

struct Options : BenchOptions {
  std::string path = "gradients";
};

FirstOrderPath chosen_path(const std::string& name) {
  if (name == "gradients") return FirstOrderPath::kGradients;
  if (name == "watch") return FirstOrderPath::kWatch;
  if (name == "watch-reuse") return FirstOrderPath::kWatchReuse;
  throw UsageError("bench first-order: there is no path '" + name +
                   "'; choose one of gradients, watch, watch-reuse");
}

}  // namespace

void add_bench_first_order(CLI::App& bench) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = bench.add_subcommand(
      "first-order",
      "Time quantities of the individual gradients against the plain gradient (forward, mean loss, "
      "backward) of the same batch, in turn in one process. Every candidate delivers the mean "
      "gradient too.");
  add_bench_options(*command, *options, first_order_quantities(FirstOrderPath::kGradients));
  command->add_option("--path",
                      options->path,
                      "gradients (a pass of its own; the default), watch (beside backward()) or "
                      "watch-reuse (and spare PyTorch the gradients the engine has)");
  command->callback([options, command] {
    check_bench_options(*command, *options);
    const FirstOrderPath path = chosen_path(options->path);
    run_bench(*command,
              *options,
              path == FirstOrderPath::kGradients ? "first-order" : "first-order-" + options->path,
              first_order_quantities(path));
  });
}

}  // namespace flightdeck::cli
