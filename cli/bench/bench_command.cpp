// SPDX-License-Identifier: MIT
#include "cli/bench/bench_command.h"

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <c10/util/Exception.h>

#include "cli/bench/bench_report.h"
#include "cli/machine/blas.h"
#include "cli/machine/process.h"
#include "cli/machine/processor.h"
#include "cli/options/errors.h"
#include "cli/options/names.h"
#include "cli/options/usage_error.h"
#include "cli/text/quiet.h"

namespace flightdeck::cli {
namespace {

// Returns the command's name as messages have it.
std::string title(const CLI::App& command) { return "bench " + command.get_name(); }

// "all" leaves out the networks for 224 x 224 images, which take minutes a step on a CPU.
constexpr int64_t kMostParameters = 20'000'000;

std::vector<suite::Problem> chosen_problems(const CLI::App& command, const std::string& name) {
  if (name == "all") {
    std::vector<suite::Problem> problems;
    for (const suite::Problem& problem : suite::all_problems()) {
      if (problem.parameters <= kMostParameters) problems.push_back(problem);
    }
    return problems;
  }
  for (const suite::Problem& problem : suite::all_problems()) {
    if (problem.name == name) return {problem};
  }
  throw UsageError(title(command) + ": there is no problem '" + name + "'; choose one of " +
                   joined(names_of(suite::all_problems())) + ", or all");
}

std::vector<BenchQuantity> chosen_quantities(const CLI::App& command,
                                             const std::vector<std::string>& names,
                                             const std::vector<BenchQuantity>& all) {
  if (names.empty()) return all;
  std::vector<BenchQuantity> chosen;
  for (const std::string& name : names) {
    const auto found = std::find_if(
        all.begin(), all.end(), [&](const auto& quantity) { return quantity.name == name; });
    if (found == all.end()) {
      throw UsageError(title(command) + ": there is no quantity '" + name + "'; choose from " +
                       joined(names_of(all)));
    }
    chosen.push_back(*found);
  }
  return chosen;
}

// Shows one line on the terminal that is overwritten while measuring.
class ProgressLine {
 public:
  explicit ProgressLine(bool is_shown) : is_shown_(is_shown) {}

  void show(const std::string& text) {
    if (is_shown_) std::cerr << "\r\033[K" << text << std::flush;
  }
  void clear() { show(""); }

 private:
  bool is_shown_;
};

void print(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

// Fills in the line's timing, or its error.
void measure(const BenchQuantity& quantity,
             const BenchOptions& options,
             Workload& workload,
             ProgressLine& progress,
             BenchLine& line) {
  const std::string what = workload.name() + " " + quantity.name + ": ";
  line.quantity = quantity.name;
  line.error.clear();
  progress.show(what + "checking");
  const std::string of_all = " of " + std::to_string(options.repeats);
  const auto show_round = [&](int round) {
    progress.show(what +
                  (round < 0 ? "warming up" : "round " + std::to_string(round + 1) + of_all));
  };
  try {
    workload.restore();
    const Candidate candidate = quantity.candidate(workload);
    line.timing = time_in_turn(workload, candidate, options.warm_up, options.repeats, show_round);
  } catch (const std::exception& error) {
    line.error = message_of(error);
  }
  progress.clear();
}

void check_bench_count(
    const CLI::App& command, const char* option, int64_t value, int64_t least, const char* remedy) {
  if (command.count(option) == 0 || value >= least) return;
  throw UsageError(title(command) + ": " + option + " is " + std::to_string(value) +
                   " but must be at least " + std::to_string(least) + "; " + remedy);
}

}  // namespace

void add_threads_and_json(CLI::App& command, int& threads, bool& json) {
  command.add_option("--threads", threads, "CPU threads; default one per core")
      ->check(CLI::PositiveNumber);
  command.add_flag("--json", json, "Print one JSON object per line");
}

void add_bench_options(CLI::App& command,
                       BenchOptions& options,
                       const std::vector<BenchQuantity>& quantities) {
  command.add_option(
      "--problem",
      options.problem,
      "One of " + joined(names_of(suite::all_problems())) + ", or all; default " + options.problem);
  command.add_option("--batch", options.batch, "Samples; default is the problem's own");
  command.add_option("--threads", options.threads, "CPU threads; default is one per core");
  command.add_option("--device", options.device, "cpu or cuda; default cpu");
  command.add_option("--quantity",
                     options.quantities,
                     "One or more of " + joined(names_of(quantities)) + "; default all");
  command.add_option("--repeats", options.repeats, "Timed rounds; default 15");
  command.add_option("--warm-up", options.warm_up, "Rounds before those; default 3");
  command.add_flag("--json", options.json, "Print one JSON object per line");
  command.add_flag(
      "--progress", options.progress, "Show progress on stderr even where it is not a terminal");
}

void check_bench_options(const CLI::App& command, const BenchOptions& options) {
  check_bench_count(command, "--batch", options.batch, 1, "try --batch 128");
  check_bench_count(command, "--threads", options.threads, 1, "try --threads 1");
  check_bench_count(command, "--repeats", options.repeats, 1, "leave it out for 15");
  check_bench_count(command, "--warm-up", options.warm_up, 0, "leave it out for 3");
}

void run_bench(const CLI::App& command,
               const BenchOptions& options,
               const std::string& label,
               const std::vector<BenchQuantity>& quantities) {
  const std::vector<suite::Problem> problems = chosen_problems(command, options.problem);
  const std::vector<BenchQuantity> chosen =
      chosen_quantities(command, options.quantities, quantities);
  const at::Device device = chosen_device(title(command), options.device);
  const int threads = options.threads > 0 ? options.threads : core_count();
  prepare_process(threads);

  ProgressLine progress(!is_quiet() && (options.progress || isatty(STDERR_FILENO) != 0));
  size_t failures = 0;
  BenchLine line;
  line.bench = label;
  line.device = options.device;
  line.threads = threads;
  line.blas = blas().description();
  for (const suite::Problem& problem : problems) {
    line.problem = problem.name;
    line.batch = options.batch > 0 ? options.batch : problem.batch_size;
    if (!options.json) print(table_heading(line));
    Workload workload(problem, line.batch, device);
    for (const BenchQuantity& quantity : chosen) {
      measure(quantity, options, workload, progress, line);
      print(options.json ? json(line) : table_row(line));
      if (!line.error.empty()) ++failures;
    }
  }
  TORCH_CHECK(failures == 0,
              title(command),
              ": ",
              failures,
              " of ",
              chosen.size() * problems.size(),
              " measurements failed; the reasons stand in their lines");
}

}  // namespace flightdeck::cli
