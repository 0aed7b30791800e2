// SPDX-License-Identifier: MIT
// The command-line tool: parses, runs one subcommand, turns failures into exit codes.
#include <exception>
#include <iostream>

#include <CLI/CLI.hpp>
#include <torch/version.h>

#include "cli/commands.h"
#include "cli/errors.h"
#include "cli/names.h"
#include "record/text.h"

namespace {

enum ExitCode { kOk = 0, kFailure = 1, kUsage = 2 };

// Suggests a command where a word is none; CLI11 would only say that one is missing.
void check_commands(const CLI::App& app, int argc, char** argv) {
  const CLI::App* level = &app;
  for (int k = 1; k < argc && argv[k][0] != '-'; ++k) {
    std::vector<std::string> names;
    for (const CLI::App* command : level->get_subcommands({})) names.push_back(command->get_name());
    if (names.empty()) return;
    flightdeck::cli::check_name("command", argv[k], names);
    level = level->get_subcommand(argv[k]);
  }
}

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
      "  flightdeck serve                               look at it in a browser, live too\n"
      "  flightdeck show runs/...                       what was recorded\n"
      "Exit status: 0 success, 1 failure at run time, 2 wrong usage.");

  flightdeck::cli::add_run(app);
  flightdeck::cli::add_resume(app);
  flightdeck::cli::add_tune(app);
  flightdeck::cli::add_serve(app);
  flightdeck::cli::add_show(app);
  flightdeck::cli::add_report(app);
  flightdeck::cli::add_export(app);
  flightdeck::cli::add_analyze(app);
  flightdeck::cli::add_experiment(app);
  flightdeck::cli::add_runtime(app);
  flightdeck::cli::add_list(app);
  flightdeck::cli::add_coverage(app);
  flightdeck::cli::add_data(app);
  flightdeck::cli::add_doctor(app);
  CLI::App* bench = app.add_subcommand("bench", "Measure Flightdeck on this machine.");
  bench->require_subcommand(1);
  flightdeck::cli::add_bench_curvature(*bench);
  flightdeck::cli::add_bench_first_order(*bench);
  flightdeck::cli::add_bench_overhead(*bench);
  flightdeck::cli::add_bench_training(*bench);

  check_commands(app, argc, argv);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kOk : kUsage;
  }
  return kOk;
}

// Messages may quote files.
int fail(const std::string& message, int status) {
  using flightdeck::record::Lines;
  std::cerr << "flightdeck: " << flightdeck::record::printable(message, Lines::kKept) << "\n";
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const flightdeck::cli::UsageError& error) {
    return fail(error.what(), kUsage);
  } catch (const std::exception& error) {
    return fail(flightdeck::cli::message_of(error), kFailure);
  }
}
