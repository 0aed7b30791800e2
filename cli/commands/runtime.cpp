// SPDX-License-Identifier: MIT
// flightdeck runtime: what a step of an optimizer costs beside a step of SGD, by several short
// trainings of each.
#include <cmath>
#include <cstdio>
#include <memory>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "cli/bench/data_kind.h"
#include "cli/bench/turns.h"
#include "cli/command.h"
#include "cli/machine/process.h"
#include "cli/machine/processor.h"
#include "cli/options/errors.h"
#include "cli/options/run_options.h"
#include "cli/text/json.h"
#include "cli/text/numbers.h"
#include "cli/text/quiet.h"
#include "cli/text/table.h"
#include "cli/text/terminal.h"
#include "run/training.h"
#include "study/statistics.h"

namespace flightdeck::cli {
namespace {

struct RuntimeOptions {
  run::TrainingOptions training;
  std::vector<std::string> settings;
  std::string device = "cpu";
  int runs = 5, threads = 0;
  bool json = false;
};

// Means over the steps of one run.
struct Run {
  double sgd_ms = 0, ms = 0;
  double ratio() const { return ms / sgd_ms; }
};

// Takes the same problem, data, order and initial parameters.
run::TrainingOptions sgd_beside(run::TrainingOptions options) {
  options.optimizer = "sgd";
  options.hyperparameters.clear();
  return options;
}

void take_steps(run::Training& training, int64_t count) {
  for (int64_t k = 0; k < count; ++k) training.step();
}

// Lets both trainings go on in turn, some steps at a time, so that what else the machine does hits
// both.
Run measure(const run::TrainingOptions& options,
            const std::function<void(int64_t done, int64_t of)>& on_stretch) {
  constexpr int64_t kStretch = 10;
  run::Training sgd(sgd_beside(options)), other(options);
  // The first step of a process sets up threads, and that of an optimizer its state.
  take_steps(sgd, 1);
  take_steps(other, 1);
  const int64_t total = sgd.total_steps();
  Run run;
  for (int64_t done = 0; done < total; done += kStretch) {
    const int64_t count = std::min(kStretch, total - done);
    const auto [sgd_ms, ms] = milliseconds_in_turn(
        options.device,
        done / kStretch,
        [&] { take_steps(sgd, count); },
        [&] { take_steps(other, count); });
    run.sgd_ms += sgd_ms / static_cast<double>(total);
    run.ms += ms / static_cast<double>(total);
    on_stretch(done + count, total);
  }
  return run;
}

// ---- what it comes to ---------------------------------------------------------------------------

struct Ratios : study::Spread {
  double median, low, high;

  explicit Ratios(const std::vector<double>& values)
      : Spread(study::spread_of(values)),
        median(flightdeck::median(values)),
        low(*std::min_element(values.begin(), values.end())),
        high(*std::max_element(values.begin(), values.end())) {}
};

void print_json(const RuntimeOptions& options, const std::vector<Run>& runs, const Ratios& ratio) {
  Json each = Json::array();
  for (const Run& run : runs) {
    each.add(Json::object()
                 .field("sgd_ms", measured(run.sgd_ms))
                 .field("ms", measured(run.ms))
                 .field("ratio", measured(run.ratio())));
  }
  const run::TrainingOptions& training = options.training;
  std::printf("%s\n",
              Json::object()
                  .field("optimizer", training.optimizer)
                  .field("problem", training.problem)
                  .field("data", data_kind(training.problem, training.data))
                  .field("device", options.device)
                  .field("threads", options.threads)
                  .field("epochs", training.epochs)
                  .field("runs", each)
                  .field("mean", measured(ratio.mean))
                  .field("median", measured(ratio.median))
                  .field("standard_deviation", measured(ratio.deviation))
                  .field("low", measured(ratio.low))
                  .field("high", measured(ratio.high))
                  .text()
                  .c_str());
}

void print_text(const RuntimeOptions& options, const std::vector<Run>& runs, const Ratios& ratio) {
  const std::string& name = options.training.optimizer;
  const bool is_sgd = name == "sgd";
  Table table({"run", "sgd ms/step", (is_sgd ? "again" : name) + " ms/step", "ratio"});
  for (size_t k = 0; k < runs.size(); ++k) {
    table.add({static_cast<int64_t>(k + 1), runs[k].sgd_ms, runs[k].ms, runs[k].ratio()});
  }
  std::printf(
      "%s\n%s takes %s times as long per step as sgd (mean of %s: median %s, standard "
      "deviation %s, from %s to %s)\n",
      padded_text(table).c_str(),
      name.c_str(),
      short_number(ratio.mean).c_str(),
      counted(options.runs, "run").c_str(),
      short_number(ratio.median).c_str(),
      short_number(ratio.deviation).c_str(),
      short_number(ratio.low).c_str(),
      short_number(ratio.high).c_str());
}

// ---- the command --------------------------------------------------------------------------------

void complete(RuntimeOptions& options) {
  run::TrainingOptions& training = options.training;
  read_arguments("runtime", [&] {
    training.hyperparameters = parse_settings(options.settings);
    check_training_options(training);
  });
  training.device = chosen_device("runtime", options.device);
  if (options.threads == 0) options.threads = core_count();
  // Times do not depend on what the images show.
  const suite::DataDescription data =
      suite::describe_data(suite::find_problem(training.problem).data_set);
  if (data.needs_files && !data.is_found) training.data.synthetic = true;
}

void run(RuntimeOptions& options) {
  complete(options);
  prepare_process(options.threads);
  run::TrainingOptions& training = options.training;
  const bool shows = !options.json && !is_quiet() && isatty(STDERR_FILENO) != 0;
  const std::string of_all = " of " + std::to_string(options.runs);
  if (!options.json && !is_quiet()) {
    std::printf("%s on %s (%s data): %s of %s, in turn with sgd, %s\n",
                training.optimizer.c_str(),
                training.problem.c_str(),
                data_kind(training.problem, training.data).c_str(),
                counted(options.runs, "run").c_str(),
                counted(training.epochs, "epoch").c_str(),
                counted(options.threads, "thread").c_str());
  }
  std::vector<Run> runs;
  std::vector<double> ratios;
  for (int k = 0; k < options.runs; ++k) {
    training.seed = 42 + static_cast<uint64_t>(k);
    runs.push_back(measure(training, [&](int64_t done, int64_t of) {
      if (!shows) return;
      const double share = static_cast<double>(done) / static_cast<double>(of);
      std::fprintf(stderr,
                   "\r\033[Krun %d%s %s",
                   k + 1,
                   of_all.c_str(),
                   progress_bar(share, 40, is_utf8()).c_str());
    }));
    ratios.push_back(runs.back().ratio());
  }
  if (shows) std::fprintf(stderr, "\r\033[K");
  if (options.json) {
    print_json(options, runs, Ratios(ratios));
  } else {
    print_text(options, runs, Ratios(ratios));
  }
}

void add_runtime(CLI::App* command) {
  const auto options = std::make_shared<RuntimeOptions>();
  run::TrainingOptions& training = options->training;
  training.problem = "mnist_mlp";
  training.epochs = 3;
  command->add_option("OPTIMIZER", training.optimizer, "See 'flightdeck list optimizers'")
      ->required();
  command->add_option("--problem", training.problem, "Default mnist_mlp");
  command->add_option("--runs", options->runs, "Trainings of each, with seeds from 42; default 5")
      ->check(CLI::PositiveNumber);
  command->add_option("--epochs", training.epochs, "Of each training; default 3")
      ->check(CLI::PositiveNumber);
  command->add_option("--batch-size", training.batch_size, "Default is the problem's own")
      ->check(CLI::PositiveNumber);
  command->add_option("--limit", training.data.limit, "At most so many samples in each part")
      ->check(CLI::PositiveNumber);
  command->add_option("--set", options->settings, "A hyperparameter as NAME=VALUE; repeatable")
      ->allow_extra_args(false);
  command->add_option("--device", options->device, "cpu or cuda; default cpu");
  command->add_option("--threads", options->threads, "CPU threads; default one per core")
      ->check(CLI::PositiveNumber);
  command->add_flag(
      "--synthetic", training.data.synthetic, "Generated data even where files are found");
  command->add_flag("--json", options->json, "Print one JSON object");
  command->footer(
      "Only steps are timed: batch, forward, backward, update; no evaluation. The trainings go on\n"
      "in turn, ten steps each, in one process.\n"
      "Example:\n  flightdeck runtime adam --set beta2=0.99");
  command->callback([options] { run(*options); });
}

}  // namespace

Command runtime_command() {
  return {"runtime",
          "Measure what a step of an optimizer costs beside a step of SGD.",
          100,
          &add_runtime};
}

}  // namespace flightdeck::cli
