// SPDX-License-Identifier: MIT
#include "cli/bench/watched_cases.h"

#include <algorithm>

#include <CLI/CLI.hpp>

#include "cli/bench/bench_command.h"
#include "cli/bench/gpt2.h"
#include "cli/machine/process.h"
#include "cli/options/errors.h"
#include "cli/options/names.h"

namespace flightdeck::cli {

void add_watched_bench_options(CLI::App& command, WatchedBenchOptions& options) {
  OverheadOptions& overhead = options.overhead;
  command.add_option(
      "--problem",
      options.problems,
      "One or more problems, or gpt2_small, which is for benchmarks alone; default mnist_mlp");
  command.add_option("--preset",
                     options.presets,
                     "One or more of economy, business, full and diagnosis; default economy");
  command.add_option("--interval", overhead.interval, "Steps between tracked steps; default 1")
      ->check(CLI::PositiveNumber);
  command.add_option("--group",
                     options.group,
                     "Values also per parameter, module, ... as of run; default automatic");
  command.add_flag("--each", options.each, "Every quantity of the catalogue alone");
  command.add_option("--quantity", options.quantities, "These quantities, each alone");
  command.add_option("--batch", overhead.training.batch_size, "Samples; default the problem's own")
      ->check(CLI::PositiveNumber);
  command.add_option("--device", options.device, "cpu or cuda; default cpu");
  command.add_option("--optimizer", options.optimizer, "Default sgd");
  command.add_option("--lr", options.learning_rate, "Learning rate; default 0.001");
  command.add_flag("--synthetic", options.synthetic, "Generated data even where files are found");
  add_threads_and_json(command, options.threads, options.json);
}

void prepare_watched_bench(const std::string& bench, WatchedBenchOptions& options) {
  std::vector<std::string> quantities;
  for (const Quantity& one : all_quantities()) quantities.push_back(one.name());
  for (const std::string& name : options.problems) {
    if (name == kGpt2) add_gpt2();
    check_name("problem", name, names_of(suite::all_problems()));
  }
  for (const std::string& name : options.presets) {
    check_name("preset", name, names_of(all_presets()));
  }
  for (const std::string& name : options.quantities) check_name("quantity", name, quantities);
  options.overhead.training.device = chosen_device(bench, options.device);
  options.overhead.grouping = Grouping::parse(options.group);
  prepare_process(options.threads);
}

std::vector<WatchedCase> chosen_cases(const WatchedBenchOptions& options) {
  const DueSteps due = DueSteps::every(options.overhead.interval);
  std::vector<WatchedCase> cases;
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

OverheadOptions for_problem(const WatchedBenchOptions& options, const std::string& problem) {
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

}  // namespace flightdeck::cli
