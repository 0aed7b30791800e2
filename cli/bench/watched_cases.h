// SPDX-License-Identifier: MIT
// What the benchmarks of watched trainings share: which problems, presets and quantities, and how
// they are called.
#pragma once

#include <string>
#include <vector>

#include "cli/bench/overhead.h"

namespace CLI {
class App;
}

namespace flightdeck::cli {

struct WatchedBenchOptions {
  std::vector<std::string> problems = {"mnist_mlp"};
  std::vector<std::string> presets = {"economy"};
  std::vector<std::string> quantities;
  bool each = false, json = false, synthetic = false;
  int threads = 0;
  std::string device = "cpu", optimizer = "sgd", group = "automatic";
  double learning_rate = 1e-3;
  OverheadOptions overhead;
};

// What is measured together.
struct WatchedCase {
  std::string preset, quantity;
  std::vector<Quantity> quantities;
};

// Adds the options; they have to outlive the command.
void add_watched_bench_options(CLI::App& command, WatchedBenchOptions& options);

// Throws UsageError for names that there are not, then prepares device, threads and grouping.
void prepare_watched_bench(const std::string& bench, WatchedBenchOptions& options);

std::vector<WatchedCase> chosen_cases(const WatchedBenchOptions& options);

// Takes real data where they are found, because the numbers of a random problem converge
// differently.
OverheadOptions for_problem(const WatchedBenchOptions& options, const std::string& problem);

}  // namespace flightdeck::cli
