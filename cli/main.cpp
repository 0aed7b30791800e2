// SPDX-License-Identifier: MIT
// The command-line tool: parses, runs one subcommand, turns failures into exit codes.
#include <exception>
#include <iostream>

#include <CLI/CLI.hpp>
#include <torch/version.h>

#include "cli/commands.h"
#include "cli/errors.h"

namespace {

enum ExitCode { kOk = 0, kFailure = 1, kUsage = 2 };

int run(int argc, char** argv) {
  CLI::App app("Flightdeck: a debugger for neural-network training.", "flightdeck");
  app.set_version_flag("--version",
                       "flightdeck " FLIGHTDECK_VERSION " (LibTorch " TORCH_VERSION ")");
  app.require_subcommand(1);
  app.get_formatter()->column_width(36);
  app.footer(
      "Start with:\n"
      "  flightdeck doctor                              what this machine has\n"
      "  flightdeck run mnist_mlp --synthetic --steps 200\n"
      "  flightdeck show runs/...                       what was recorded\n"
      "Exit status: 0 success, 1 failure at run time, 2 wrong usage.");

  flightdeck::cli::add_run(app);
  flightdeck::cli::add_show(app);
  flightdeck::cli::add_export(app);
  flightdeck::cli::add_list(app);
  flightdeck::cli::add_coverage(app);
  flightdeck::cli::add_doctor(app);
  CLI::App* bench = app.add_subcommand("bench", "Measure Flightdeck on this machine.");
  bench->require_subcommand(1);
  flightdeck::cli::add_bench_curvature(*bench);
  flightdeck::cli::add_bench_first_order(*bench);
  flightdeck::cli::add_bench_overhead(*bench);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kOk : kUsage;
  }
  return kOk;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const flightdeck::cli::UsageError& error) {
    std::cerr << "flightdeck: " << error.what() << "\n";
    return kUsage;
  } catch (const std::exception& error) {
    std::cerr << "flightdeck: " << flightdeck::cli::message_of(error) << "\n";
    return kFailure;
  }
}
