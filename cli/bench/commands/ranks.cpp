// SPDX-License-Identifier: MIT
// flightdeck bench ranks: what watching sends between ranks.
#include "cli/bench/ranks.h"

#include <cstdio>
#include <memory>

#include <CLI/CLI.hpp>

#include "cli/bench/bench_command.h"
#include "cli/command.h"
#include "cli/machine/process.h"
#include "cli/options/names.h"
#include "cli/text/json.h"

namespace flightdeck::cli {
namespace {

struct RanksBenchOptions {
  std::string problem = "mnist_mlp";
  std::vector<std::string> presets;  // all without a word
  std::vector<int64_t> ranks = {2, 4};
  RanksOptions counted;
  int threads = 0;
  bool json = false;
};

void print(const RanksBenchOptions& options,
           const std::string& preset,
           const RankTraffic& traffic) {
  if (options.json) {
    std::printf("%s\n",
                Json::object()
                    .field("bench", "ranks")
                    .field("problem", options.problem)
                    .field("preset", preset)
                    .field("ranks", options.counted.ranks)
                    .field("batch", options.counted.batch_size)
                    .field("interval", options.counted.interval)
                    .field("due_collectives", traffic.due_collectives)
                    .field("due_bytes", traffic.due_bytes)
                    .field("collectives", traffic.collectives)
                    .field("bytes", traffic.bytes)
                    .text()
                    .c_str());
  } else {
    std::printf("  %-12s %5lld %11.0f %12.3f %11.2f %12.3f\n",
                preset.c_str(),
                static_cast<long long>(options.counted.ranks),
                traffic.due_collectives,
                traffic.due_bytes / 1e6,
                traffic.collectives,
                traffic.bytes / 1e6);
  }
  std::fflush(stdout);
}

void run(RanksBenchOptions options) {
  check_name("problem", options.problem, names_of(suite::all_problems()));
  for (const std::string& name : options.presets) {
    check_name("preset", name, names_of(all_presets()));
  }
  if (options.presets.empty()) options.presets = names_of(all_presets());
  prepare_process(options.threads);
  const suite::Problem problem = suite::find_problem(options.problem);
  if (!options.json) {
    std::printf(
        "%s, %lld samples on each rank, every %lld\n  %-12s %5s %24s %24s\n  %-12s %5s %11s "
        "%12s %11s %12s\n",
        problem.name.c_str(),
        static_cast<long long>(options.counted.batch_size),
        static_cast<long long>(options.counted.interval),
        "",
        "",
        "at a step where due",
        "per step",
        "preset",
        "ranks",
        "collectives",
        "MB",
        "collectives",
        "MB");
  }
  for (const std::string& name : options.presets) {
    for (const int64_t ranks : options.ranks) {
      options.counted.ranks = ranks;
      const DueSteps due = DueSteps::every(options.counted.interval);
      print(options, name, count_traffic(problem, options.counted, [&] {
              return preset(name, due);
            }));
    }
  }
}

void add_bench_ranks(CLI::App* command) {
  const auto options = std::make_shared<RanksBenchOptions>();
  command->add_option("--problem", options->problem, "A problem; default mnist_mlp");
  command->add_option("--preset", options->presets, "One or more presets; default all");
  command->add_option("--ranks", options->ranks, "How many ranks, one or more; default 2 and 4")
      ->check(CLI::PositiveNumber);
  command->add_option("--batch", options->counted.batch_size, "Samples of each rank; default 32")
      ->check(CLI::PositiveNumber);
  command
      ->add_option(
          "--interval", options->counted.interval, "Steps between tracked steps; default 1")
      ->check(CLI::PositiveNumber);
  add_threads_and_json(*command, options->threads, options->json);
  command->callback([options] { run(*options); });
}

}  // namespace

Command bench_ranks_command() {
  return {
      "ranks",
      "Count what watching sends between ranks: collectives, and the bytes that each rank gives "
      "to them, at a step where all is due and per step. Ranks are threads of this process.",
      60,
      &add_bench_ranks};
}

}  // namespace flightdeck::cli
