// SPDX-License-Identifier: MIT
// The command-line tool: parses, runs one subcommand, turns failures into exit codes.
#include <exception>
#include <iostream>

#include <CLI/CLI.hpp>
#include <c10/util/Exception.h>
#include <torch/version.h>

#include "cli/commands.h"

namespace {

enum ExitCode { kOk = 0, kFailure = 1, kUsage = 2 };

int run(int argc, char** argv) {
  CLI::App app("Flightdeck: a debugger for neural-network training.", "flightdeck");
  app.set_version_flag("--version",
                       "flightdeck " FLIGHTDECK_VERSION " (LibTorch " TORCH_VERSION ")");
  app.require_subcommand(1);
  app.get_formatter()->column_width(36);

  CLI::App* bench = app.add_subcommand("bench", "Measure Flightdeck on this machine.");
  bench->require_subcommand(1);
  flightdeck::cli::add_bench_first_order(*bench);
  flightdeck::cli::add_doctor(app);

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
  } catch (const c10::Error& error) {
    // Without the stack trace that what() carries.
    std::cerr << "flightdeck: " << error.what_without_backtrace() << "\n";
    return kFailure;
  } catch (const std::exception& error) {
    std::cerr << "flightdeck: " << error.what() << "\n";
    return kFailure;
  }
}
