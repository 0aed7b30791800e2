// SPDX-License-Identifier: MIT
// The subcommands. Each adds itself, with its options and a callback that runs it, to its parent.
#pragma once

#include <stdexcept>

namespace CLI {
class App;
}

namespace flightdeck::cli {

/// The command line asks for something that does not exist; main exits with 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

void add_analyze(CLI::App& app);
void add_bench_curvature(CLI::App& bench);
void add_bench_first_order(CLI::App& bench);
void add_bench_overhead(CLI::App& bench);
void add_bench_training(CLI::App& bench);
void add_coverage(CLI::App& app);
void add_data(CLI::App& app);
void add_doctor(CLI::App& app);
void add_experiment(CLI::App& app);
void add_export(CLI::App& app);
void add_list(CLI::App& app);
void add_report(CLI::App& app);
void add_resume(CLI::App& app);
void add_run(CLI::App& app);
void add_runtime(CLI::App& app);
void add_serve(CLI::App& app);
void add_show(CLI::App& app);
void add_tune(CLI::App& app);

}  // namespace flightdeck::cli
