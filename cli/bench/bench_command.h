// SPDX-License-Identifier: MIT
// What the subcommands of `flightdeck bench` have in common: options, preparation of the process,
// and the loop over problems and quantities.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/bench/turns.h"

namespace CLI {
class App;
}

namespace flightdeck::cli {

struct BenchOptions {
  std::string problem = "cifar10_3c3d";
  int64_t batch = 0;  // 0: the problem's customary batch size
  int threads = 0;    // 0: one per core
  std::string device = "cpu";
  std::vector<std::string> quantities;  // empty: all
  int repeats = 15;
  int warm_up = 3;
  bool json = false;
  bool progress = false;
};

// Adds --threads and --json; both variables have to outlive the command.
void add_threads_and_json(CLI::App& command, int& threads, bool& json);

// Adds the common options; `options` has to outlive the command.
void add_bench_options(CLI::App& command,
                       BenchOptions& options,
                       const std::vector<BenchQuantity>& quantities);

// Throws UsageError if an option that was given has an impossible value.
void check_bench_options(const CLI::App& command, const BenchOptions& options);

// Measures and prints. `label` stands in the output as "bench". A quantity that fails is reported
// in its line and does not stop the others; an error at the end says how many failed.
void run_bench(const CLI::App& command,
               const BenchOptions& options,
               const std::string& label,
               const std::vector<BenchQuantity>& quantities);

}  // namespace flightdeck::cli
