// SPDX-License-Identifier: MIT
// flightdeck bench overhead: what a preset, or each quantity alone, costs beside the training step.
#include "cli/bench/overhead.h"

#include <cstdio>
#include <memory>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "cli/bench/bench_report.h"
#include "cli/bench/data_kind.h"
#include "cli/command.h"
#include "cli/machine/blas.h"
#include "cli/machine/process.h"
#include "cli/machine/processor.h"
#include "cli/options/errors.h"
#include "cli/options/names.h"

namespace flightdeck::cli {
namespace {

struct BenchOverheadOptions {
  std::vector<std::string> problems = {"mnist_mlp"};
  std::vector<std::string> presets = {"economy"};
  std::vector<std::string> quantities;
  bool each = false, json = false, synthetic = false;
  int threads = 0;
  std::string device = "cpu", optimizer = "sgd", group = "automatic";
  double learning_rate = 1e-3;
  OverheadOptions overhead;
};

// What is measured together, and how it is called.
struct Case {
  std::string preset, quantity;
  std::vector<Quantity> quantities;
};

std::vector<Case> chosen_cases(const BenchOverheadOptions& options) {
  const DueSteps due = DueSteps::every(options.overhead.interval);
  std::vector<Case> cases;
  if (!options.each && options.quantities.empty()) {
    for (const std::string& name : options.presets) {
      cases.push_back({name, "all", preset(name, due)});
    }
    return cases;
  }
  for (Quantity& one : all_quantities()) {
    const auto& names = options.quantities;
    if (!names.empty() && std::find(names.begin(), names.end(), one.name()) == names.end())
      continue;
    cases.push_back({"none", one.name(), {one.on(due)}});
  }
  return cases;
}

void check(const BenchOverheadOptions& options) {
  std::vector<std::string> quantities;
  for (const Quantity& one : all_quantities()) quantities.push_back(one.name());
  for (const std::string& name : options.problems) {
    check_name("problem", name, names_of(suite::all_problems()));
  }
  for (const std::string& name : options.presets) {
    check_name("preset", name, names_of(all_presets()));
  }
  for (const std::string& name : options.quantities) check_name("quantity", name, quantities);
}

// Real data where they are found; the numbers of a random problem converge differently.
OverheadOptions for_problem(const BenchOverheadOptions& options, const std::string& problem) {
  OverheadOptions chosen = options.overhead;
  run::TrainingOptions& training = chosen.training;
  training.problem = problem;
  training.optimizer = options.optimizer;
  training.hyperparameters["learning_rate"] = options.learning_rate;
  training.data.augment = false;
  training.data.limit = 8192;
  const std::string& data_set = suite::find_problem(problem).data_set;
  const suite::DataDescription data = suite::describe_data(data_set);
  training.data.synthetic = options.synthetic || (data.needs_files && !data.is_found);
  return chosen;
}

size_t run(const BenchOverheadOptions& options, const std::string& problem, BenchLine line) {
  const OverheadOptions chosen = for_problem(options, problem);
  line.problem = problem;
  line.batch = chosen.training.batch_size > 0 ? chosen.training.batch_size
                                              : suite::find_problem(problem).batch_size;
  line.data = data_kind(problem, chosen.training.data);
  size_t failures = 0;
  if (!options.json) std::printf("%s\n", table_heading(line).c_str());
  for (const Case& one : chosen_cases(options)) {
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

void run_all(BenchOverheadOptions& options) {
  check(options);
  options.overhead.training.device = chosen_device("bench overhead", options.device);
  options.overhead.grouping = Grouping::parse(options.group);
  prepare_process(options.threads);
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
  const auto options = std::make_shared<BenchOverheadOptions>();
  OverheadOptions& overhead = options->overhead;
  command->add_option("--problem", options->problems, "One or more problems; default mnist_mlp");
  command->add_option("--preset", options->presets, "One or more presets; default economy");
  command->add_option("--interval", overhead.interval, "Steps between tracked steps; default 1")
      ->check(CLI::PositiveNumber);
  command->add_option("--group",
                      options->group,
                      "Values also per parameter, module, ... as of run; default automatic");
  command->add_flag("--each", options->each, "Every quantity of the catalogue alone");
  command->add_option("--quantity", options->quantities, "These quantities, each alone");
  command->add_option("--batch", overhead.training.batch_size, "Samples; default the problem's own")
      ->check(CLI::PositiveNumber);
  command->add_option("--threads", options->threads, "CPU threads; default one per core")
      ->check(CLI::PositiveNumber);
  command->add_option("--device", options->device, "cpu or cuda; default cpu");
  command->add_option("--optimizer", options->optimizer, "Default sgd");
  command->add_option("--lr", options->learning_rate, "Learning rate; default 0.001");
  command->add_option("--repeats", overhead.blocks, "Timed blocks; default 15")
      ->check(CLI::PositiveNumber);
  command->add_option("--warm-up", overhead.warm_up, "Blocks before those; default 3")
      ->check(CLI::NonNegativeNumber);
  command->add_flag("--synthetic", options->synthetic, "Generated data even where files are found");
  command->add_flag("--json", options->json, "Print one JSON object per line");
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
