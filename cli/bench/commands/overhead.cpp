// SPDX-License-Identifier: MIT
// flightdeck bench overhead: what a preset, or each quantity alone, costs beside the training step.
#include "cli/bench/overhead.h"

#include <cstdio>
#include <memory>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "cli/bench/bench_report.h"
#include "cli/bench/data_kind.h"
#include "cli/bench/watched_cases.h"
#include "cli/command.h"
#include "cli/machine/blas.h"
#include "cli/machine/processor.h"

namespace flightdeck::cli {
namespace {

size_t run(const WatchedBenchOptions& options, const std::string& problem, BenchLine line) {
  const OverheadOptions chosen = for_problem(options, problem);
  line.problem = problem;
  line.batch = chosen.training.batch_size > 0 ? chosen.training.batch_size
                                              : suite::find_problem(problem).batch_size;
  line.data = data_kind(problem, chosen.training.data);
  size_t failures = 0;
  if (!options.json) std::printf("%s\n", table_heading(line).c_str());
  for (const WatchedCase& one : chosen_cases(options)) {
    line.preset = one.preset;
    line.quantity = one.quantity;
    line.error.clear();
    const bool shows = !options.json && isatty(STDERR_FILENO) != 0;
    try {
      line.timing = measure_overhead(chosen, one.quantities, [&](int block) {
        if (shows) std::fprintf(stderr, "\r\033[K%s block %d", one.quantity.c_str(), block + 1);
      });
    } catch (const std::exception& error) {
      line.error = message_of(error);
      ++failures;
    }
    if (shows) std::fprintf(stderr, "\r\033[K");
    std::printf("%s\n", (options.json ? json(line) : table_row(line)).c_str());
    std::fflush(stdout);
  }
  return failures;
}

void run_all(WatchedBenchOptions& options) {
  prepare_watched_bench("bench overhead", options);
  BenchLine line;
  line.bench = "overhead";
  line.device = options.device;
  line.threads = options.threads > 0 ? options.threads : core_count();
  line.blas = blas().description();
  line.interval = options.overhead.interval;
  size_t failures = 0;
  for (const std::string& problem : options.problems) failures += run(options, problem, line);
  TORCH_CHECK(failures == 0,
              "bench overhead: ",
              failures,
              " measurements failed; the reasons stand in their lines");
}

void add_bench_overhead(CLI::App* command) {
  const auto options = std::make_shared<WatchedBenchOptions>();
  add_watched_bench_options(*command, *options);
  command->add_option("--repeats", options->overhead.blocks, "Timed blocks; default 15")
      ->check(CLI::PositiveNumber);
  command->add_option("--warm-up", options->overhead.warm_up, "Blocks before those; default 3")
      ->check(CLI::NonNegativeNumber);
  command->callback([options] { run_all(*options); });
}

}  // namespace

Command bench_overhead_command() {
  return {"overhead",
          "Time a training loop under a cockpit against the same loop without one, in turn in one "
          "process: forward, loss, backward and update. Ratios are medians over blocks of one "
          "interval.",
          30,
          &add_bench_overhead};
}

}  // namespace flightdeck::cli
