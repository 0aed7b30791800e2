// SPDX-License-Identifier: MIT
// flightdeck bench first-order: what a quantity costs beside the plain gradient.
#include "cli/bench/first_order.h"

#include <memory>

#include <CLI/CLI.hpp>

#include "cli/bench/bench_command.h"
#include "cli/command.h"
#include "cli/options/usage_error.h"

namespace flightdeck::cli {
namespace {

struct BenchFirstOrderOptions : BenchOptions {
  std::string path = "gradients";
};

FirstOrderPath chosen_path(const std::string& name) {
  if (name == "gradients") return FirstOrderPath::kGradients;
  if (name == "watch") return FirstOrderPath::kWatch;
  if (name == "watch-reuse") return FirstOrderPath::kWatchReuse;
  throw UsageError("bench first-order: there is no path '" + name +
                   "'; choose one of gradients, watch, watch-reuse");
}

void add_bench_first_order(CLI::App* command) {
  const auto options = std::make_shared<BenchFirstOrderOptions>();
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

}  // namespace

Command bench_first_order_command() {
  return {
      "first-order",
      "Time quantities of the individual gradients against the plain gradient (forward, mean loss, "
      "backward) of the same batch, in turn in one process. Every candidate delivers the mean "
      "gradient too.",
      20,
      &add_bench_first_order};
}

}  // namespace flightdeck::cli
