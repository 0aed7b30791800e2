// SPDX-License-Identifier: MIT
#include "cli/options/tune_options.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include <CLI/CLI.hpp>
#include <c10/util/Exception.h>

#include "cli/machine/process.h"
#include "cli/options/errors.h"
#include "cli/options/names.h"
#include "cli/options/run_options.h"
#include "cli/options/usage_error.h"
#include "study/files.h"
#include "study/study.h"
#include "suite/data_set.h"
#include "suite/learning_rate.h"
#include "suite/optimizer.h"
#include "suite/problem.h"
#include "suite/problem_sets.h"

namespace flightdeck::cli {
namespace {

constexpr int64_t kMostGridPoints = 100000;

// ---- the options --------------------------------------------------------------------------------

void add_comparison_options(CLI::App& command, TuneOptions& options) {
  const auto names =
      [&](const char* name, std::vector<std::string>& values, const std::string& help) {
        command.add_option(name, values, help)->group("Comparison")->allow_extra_args(false);
      };
  names("--optimizer", options.optimizers, "See 'flightdeck list optimizers'; repeatable");
  names("--schedule",
        options.schedules,
        "Of the learning rate, as of 'flightdeck run'; repeatable; default constant");
  names("--budget",
        options.budgets,
        "one_shot (the defaults), small (25 draws), medium (50) or large (75, the last 25 around "
        "the best); repeatable; default small, or none with --grid");
  names("--grid",
        options.grid,
        "NAME=LOW:HIGH:COUNT, on a logarithmic scale, or NAME=VALUE,VALUE,...; repeatable: all "
        "combinations");
  const auto group = [](CLI::Option* option) { option->group("Comparison"); };
  group(command.add_option("--seed", options.seed, "Of the draws and of tuning; default 42"));
  group(command.add_option(
      "--seeds", options.seeds, "With which the best is run, that of tuning counted; default 10"));
  group(command.add_flag("--all-seeds",
                         options.all_seeds,
                         "Run every point of the grid with all seeds, not the best alone"));
}

void add_run_options(CLI::App& command, TuneOptions& options) {
  const auto group = [](CLI::Option* option) { option->group("Of every run"); };
  group(command.add_option("--epochs", options.epochs, "Default is the problem's own"));
  group(command.add_option("--batch-size", options.batch_size, "Default is the problem's own"));
  group(command.add_option("--data", options.data, "Folder with the data set's files"));
  group(command.add_flag("--synthetic", options.synthetic, "Train on generated data"));
  group(command.add_option("--limit", options.limit, "At most so many samples in each part"));
  group(command.add_flag("--no-augment", options.no_augment, "Leave out random crops and flips"));
  group(command.add_flag("--raw", options.raw, "Leave the pixels in [0, 255], unscaled"));
  group(command.add_option("--device", options.device, "cpu or cuda; default cpu"));
  group(command.add_option(
      "--threads", options.threads, "CPU threads; default is the cores shared among the jobs"));
}

void add_work_options(CLI::App& command, TuneOptions& options) {
  const auto group = [](CLI::Option* option) { option->group("Work"); };
  group(command.add_option("--out",
                           options.out,
                           "Folder of the study; default studies/DATE-TIME. One that is there "
                           "already is gone on with"));
  group(command.add_option("--jobs", options.jobs, "Runs at the same time; default 1"));
  group(command.add_flag("--plan-only", options.plan_only, "Write the plan and run nothing"));
  group(command.add_flag("--slurm", options.slurm, "Submit the runs to Slurm as job arrays"));
  group(command
            .add_option("--slurm-option",
                        options.slurm_options,
                        "Passed on to sbatch, for example --slurm-option=--time=60; repeatable")
            ->allow_extra_args(false));
  group(command.add_option("--launcher",
                           options.launcher,
                           "Starts every run by this command, for example 'ssh {host} {command}'"));
  group(command
            .add_option(
                "--host", options.hosts, "For {host} of --launcher; several take turns; repeatable")
            ->allow_extra_args(false));
  group(command.add_flag("--pilot",
                         options.pilot,
                         "Run one planned run of each problem alone: what hours are estimated by"));
  group(
      command.add_option("--cost-per-hour",
                         options.cost_per_hour,
                         "Of one run at a time, in any currency: what is left is told as a cost"));
  group(command.add_flag("--json", options.json, "Print one JSON object per event, and no bar"));
  // The jobs that --slurm submits use this option.
  command.add_option("--task", options.task)->group("");
  command.add_flag("--slurm-next", options.slurm_next)->group("");
}

// ---- the request --------------------------------------------------------------------------------

std::vector<std::string> sorted_once(const std::vector<std::string>& names) {
  const std::set<std::string> all(names.begin(), names.end());
  return {all.begin(), all.end()};
}

void check_counts(const CLI::App& command, const TuneOptions& options) {
  const auto check = [&](const char* option, int64_t value, int64_t least) {
    check_at_least(command.count(option) != 0, option, value, least);
  };
  check("--seeds", options.seeds, 1);
  check("--epochs", options.epochs, 1);
  check("--batch-size", options.batch_size, 1);
  check("--limit", options.limit, 1);
  check("--jobs", options.jobs, 1);
  check("--threads", options.threads, 1);
}

// Replaces sets by their problems.
std::vector<std::string> problems_of(const std::vector<std::string>& targets) {
  std::vector<std::string> names;
  for (const std::string& target : targets) {
    const std::vector<suite::ProblemSet> sets = suite::problem_sets();
    const auto set = std::find_if(sets.begin(), sets.end(), [&](const suite::ProblemSet& entry) {
      return entry.name == target;
    });
    if (set == sets.end()) {
      names.push_back(target);
    } else {
      names.insert(names.end(), set->problems.begin(), set->problems.end());
    }
  }
  return sorted_once(names);
}

void check_problem(const std::string& name) {
  const std::vector<std::string> problems = names_of(suite::all_problems());
  if (std::find(problems.begin(), problems.end(), name) != problems.end()) return;
  for (const suite::OptimizerEntry& entry : suite::all_optimizers()) {
    if (entry.name == name) {
      throw UsageError("'" + name + "' is an optimizer, not a problem; write --optimizer " + name);
    }
  }
  if (std::filesystem::exists(name)) {
    throw UsageError("'" + name + "' is neither a problem nor the folder of a study");
  }
  check_name("problem", name, problems);
}

study::OptimizerRequest optimizer_request(const std::string& name,
                                          const std::vector<study::GridAxis>& grid) {
  check_name("optimizer", name, names_of(suite::all_optimizers()));
  const suite::OptimizerEntry& entry = suite::find_optimizer(name);
  study::OptimizerRequest optimizer{name, {}};
  for (const suite::Hyperparameter& parameter : entry.hyperparameters) {
    optimizer.space.push_back({parameter.name, parameter.search, parameter.value});
  }
  for (const study::GridAxis& axis : grid) {
    for (const double value : axis.values) entry.complete({{axis.name, value}});
  }
  return optimizer;
}

std::vector<study::GridAxis> grid_of(const TuneOptions& options) {
  std::vector<study::GridAxis> axes;
  std::set<std::string> names;
  int64_t points = 1;
  for (const std::string& text : options.grid) {
    try {
      axes.push_back(study::grid_axis(text));
    } catch (const std::invalid_argument& error) {
      throw UsageError(message_of(error));
    }
    if (!names.insert(axes.back().name).second) {
      throw UsageError("--grid names " + axes.back().name + " twice; give all its values at once");
    }
    points *= static_cast<int64_t>(axes.back().values.size());
    if (points > kMostGridPoints) {
      throw UsageError("--grid has " + std::to_string(points) + " points or more, but at most " +
                       std::to_string(kMostGridPoints) + " are run; leave some out");
    }
  }
  return axes;
}

// Returns budgets in the order of the work they take.
std::vector<std::string> budgets_of(const TuneOptions& options) {
  std::vector<std::string> asked = options.budgets, budgets;
  if (asked.empty() && options.grid.empty()) asked = {"small"};
  for (const std::string& name : asked) check_name("budget", name, study::budget_names());
  for (const std::string& name : study::budget_names()) {
    if (std::find(asked.begin(), asked.end(), name) != asked.end()) budgets.push_back(name);
  }
  if (!options.grid.empty()) budgets.push_back("grid");
  return budgets;
}

std::map<std::string, std::string> run_options_of(const CLI::App& command,
                                                  const TuneOptions& options) {
  std::map<std::string, std::string> given;
  const auto number = [&](const std::string& name, int64_t value) {
    if (command.count("--" + name) != 0) given[name] = std::to_string(value);
  };
  number("epochs", options.epochs);
  number("batch-size", options.batch_size);
  number("limit", options.limit);
  number("threads", options.threads);
  if (!options.data.empty()) given["data"] = std::filesystem::absolute(options.data).string();
  if (options.device != "cpu") given["device"] = options.device;
  if (options.synthetic) given["synthetic"] = "";
  if (options.no_augment) given["no-augment"] = "";
  if (options.raw) given["raw"] = "";
  return given;
}

// Checks nothing for a plan, which can be made where device and data are not, and run where they
// are.
void check_can_run(const study::Request& request, const TuneOptions& options) {
  if (options.plan_only) return;
  chosen_device("tune", options.device);
  suite::DataOptions data;
  data.folder = options.data;
  data.synthetic = request.run_options.count("synthetic") != 0;
  for (const std::string& problem : request.problems) check_data_is_here("tune", problem, data);
}

}  // namespace

void add_tune_options(CLI::App& command, TuneOptions& options) {
  command
      .add_option("PROBLEM",
                  options.targets,
                  "See 'flightdeck list problems'; small or large for those of the published "
                  "comparison; the folder of a study to go on with it; or a file that says what is "
                  "compared (study.json, baselines/plans)")
      ->required();
  add_comparison_options(command, options);
  add_run_options(command, options);
  add_work_options(command, options);
}

bool names_a_study(const CLI::App& command, const TuneOptions& options) {
  const bool is_study = options.targets.size() == 1 && study::Study::is_study(options.targets[0]);
  if (!is_study) {
    if (options.task < 0 && !options.slurm_next) return false;
    throw UsageError("tune: " + options.targets[0] + " holds no study");
  }
  for (const CLI::Option* option : command.get_options()) {
    const std::string group = option->get_group();
    const bool is_of_request = group == "Comparison" || group == "Of every run";
    if (option->count() != 0 && (is_of_request || option->check_name("--out"))) {
      throw UsageError("tune: " + options.targets[0] + " is a study, which says itself what " +
                       option->get_name() + " is; leave the option out");
    }
  }
  read_arguments("tune", [&] { check_counts(command, options); });
  return true;
}

bool names_a_request(const TuneOptions& options) {
  return options.targets.size() == 1 && std::filesystem::is_regular_file(options.targets[0]);
}

study::Request stored_request(const CLI::App& command, const TuneOptions& options) {
  const std::string& file = options.targets[0];
  for (const CLI::Option* option : command.get_options()) {
    if (option->count() == 0 || option->get_group() != "Comparison") continue;
    throw UsageError("tune: " + file + " says itself what " + option->get_name() +
                     " is; leave the option out, or change a copy of the file");
  }
  study::Request request;
  read_arguments("tune", [&] {
    check_counts(command, options);
    try {
      request = study::request_from_json(study::read_file(file));
    } catch (const std::runtime_error& error) {
      throw UsageError(file + " is no request of a study: " + message_of(error));
    }
    for (const std::string& problem : request.problems) check_problem(problem);
    for (const study::OptimizerRequest& optimizer : request.optimizers) {
      check_name("optimizer", optimizer.name, names_of(suite::all_optimizers()));
    }
    for (const std::string& text : request.schedules) suite::LearningRateSchedule::parse(text);
  });
  for (const auto& [name, value] : run_options_of(command, options)) {
    request.run_options[name] = value;
  }
  check_can_run(request, options);
  return request;
}

study::Request complete_request(const CLI::App& command, const TuneOptions& options) {
  study::Request request;
  read_arguments("tune", [&] {
    check_counts(command, options);
    request.problems = problems_of(options.targets);
    for (const std::string& problem : request.problems) check_problem(problem);
    if (options.optimizers.empty()) {
      throw UsageError("--optimizer is missing; 'flightdeck list optimizers' shows them");
    }
    request.schedules = sorted_once(options.schedules);
    if (request.schedules.empty()) request.schedules = {"constant"};
    for (const std::string& text : request.schedules) suite::LearningRateSchedule::parse(text);
    request.grid = grid_of(options);
    request.budgets = budgets_of(options);
    if (options.all_seeds && request.grid.empty()) {
      throw UsageError("--all-seeds is of the points of a grid; give --grid too");
    }
    for (const std::string& name : sorted_once(options.optimizers)) {
      request.optimizers.push_back(optimizer_request(name, request.grid));
    }
  });
  request.seed = options.seed;
  request.seeds = options.seeds;
  request.has_all_seeds = options.all_seeds;
  request.run_options = run_options_of(command, options);
  check_can_run(request, options);
  return request;
}

}  // namespace flightdeck::cli
