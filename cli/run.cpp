// SPDX-License-Identifier: MIT
// flightdeck run: trains a problem of the suite under a cockpit and leaves a record.
#include <cmath>
#include <filesystem>
#include <memory>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <torch/torch.h>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/names.h"
#include "cli/numbers.h"
#include "cli/process.h"
#include "cli/report_file.h"
#include "cli/run_options.h"
#include "cli/run_report.h"
#include "cli/training.h"
#include "flightdeck/cockpit.h"
#include "flightdeck/record.h"
#include "serve/assets.h"

namespace flightdeck::cli {
namespace {

// ---- the folder ---------------------------------------------------------------------------------

std::string chosen_folder(const RunOptions& options) {
  if (!options.out.empty()) return options.out;
  const std::string stem = "runs/" + options.training.problem + "-" + options.training.optimizer +
                           "-" + compact_date_and_time(now());
  std::string folder = stem;
  for (int copy = 2; std::filesystem::exists(folder); ++copy) {
    folder = stem + "-" + std::to_string(copy);
  }
  return folder;
}

void refuse_to_overwrite(const std::string& folder) {
  if (!folder.empty() && RunReader::is_run(folder)) {
    throw UsageError("run: " + folder + " already holds a run; choose another --out, or remove it");
  }
}

void make_folder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  TORCH_CHECK(!error && access(folder.c_str(), W_OK) == 0,
              "run: cannot write to the folder ",
              folder,
              " (",
              error ? error.message() : "permission denied",
              "); choose another --out");
}

// ---- the run ------------------------------------------------------------------------------------

// Keeps notes for the summary and passes them on as they come.
class NoteSink : public Sink {
 public:
  explicit NoteSink(RunReport& report) : report_(report) {}

  void begin(const RunInfo&) override {}
  void write(const StepReadings&) override {}
  void note(const Note& note) override {
    notes_.push_back(note);
    report_.note(note);
  }
  void finish(const std::string&) override {}

  const std::vector<Note>& notes() const { return notes_; }

 private:
  RunReport& report_;
  std::vector<Note> notes_;
};

std::string text_of(const suite::Hyperparameters& values) {
  std::string text;
  for (const auto& [name, value] : values) {
    text += (text.empty() ? "" : ", ") + name + " " + short_number(value);
  }
  return text;
}

std::string tracked_text(const Instruments& instruments) {
  if (instruments.quantities.empty()) return "nothing but losses, accuracies and learning rate";
  std::vector<std::string> names;
  for (const Quantity& quantity : instruments.quantities) names.push_back(quantity.name());
  return (instruments.preset == "none" ? "" : instruments.preset + ": ") + joined(names) + "; " +
         instruments.schedule.text();
}

std::map<std::string, std::string> config_of(const RunOptions& options,
                                             const Instruments& instruments,
                                             const Training& training) {
  const suite::DataSet& data = training.data();
  return {
      {"problem", training.problem().name},
      {"data_set", training.problem().data_set},
      {"data", data.origin},
      {"synthetic", data.is_synthetic ? "true" : "false"},
      {"augmented", data.augment ? "true" : "false"},
      {"raw", options.training.data.raw ? "true" : "false"},
      {"limit", std::to_string(options.training.data.limit)},
      {"optimizer", options.training.optimizer},
      {"hyperparameters", text_of(training.hyperparameters())},
      {"schedule", training.schedule().text()},
      {"batch_size", std::to_string(training.batch_size())},
      {"steps", std::to_string(training.total_steps())},
      {"steps_per_epoch", std::to_string(training.steps_per_epoch())},
      {"seed", std::to_string(options.training.seed)},
      {"threads", std::to_string(at::get_num_threads())},
      {"l2", short_number(training.problem().l2)},
      {"preset", instruments.preset},
      {"tracked", tracked_text(instruments)},
      {"batch_norm", options.instruments.batch_norm},
  };
}

class Run {
 public:
  Run(const RunOptions& options, Instruments instruments, const std::string& folder)
      : options_(options),
        folder_(folder),
        schedule_(instruments.schedule),
        training_(options.training),
        config_(config_of(options, instruments, training_)),
        report_(facts(folder), options.json) {
    make_folder(folder);
    const auto warn = [this](const std::string& text) { report_.warning(text); };
    instruments.cockpit.on_warning = warn;
    instruments.cockpit.seed = options.training.seed;
    RecorderOptions recording;
    recording.on_warning = warn;
    recorder_ = std::make_shared<Recorder>(folder, recording);
    notes_ = std::make_shared<NoteSink>(report_);
    cockpit_ = std::make_unique<Cockpit>(
        training_.parameters(), std::move(instruments.quantities), instruments.cockpit);
    cockpit_->add_sink(recorder_);
    cockpit_->add_sink(notes_);
    for (const auto& [key, value] : config_) cockpit_->describe(key, value);
  }

  // Throws if the training failed; the record is complete then too.
  void execute() {
    report_.start();
    while (!training_.is_done() && !is_interrupted()) {
      if (is_evaluation_due()) evaluate();
      if (has_diverged()) break;
      if (!is_interrupted()) step();
    }
    if (!is_interrupted() && !has_diverged() && options_.evaluate_every > 0) evaluate();
    finish();
  }

 private:
  RunFacts facts(const std::string& folder) const {
    RunFacts facts;
    facts.problem = training_.problem().name;
    facts.folder = folder;
    facts.is_synthetic = training_.data().is_synthetic;
    facts.steps = training_.total_steps();
    facts.steps_per_epoch = training_.steps_per_epoch();
    if (options_.evaluate_every > 0) {
      const int64_t interval = options_.evaluate_every * facts.steps_per_epoch;
      facts.evaluations = 1 + (facts.steps + interval - 1) / interval;
    }
    facts.config = config_;
    return facts;
  }

  bool is_evaluation_due() const {
    return options_.evaluate_every > 0 &&
           training_.next_step() % (options_.evaluate_every * training_.steps_per_epoch()) == 0;
  }

  // At the end of an epoch, as DeepOBS does, and of the run: within an epoch the instruments see
  // how the numbers go bad.
  bool has_diverged() const {
    const int64_t steps = training_.next_step();
    const bool asks = training_.is_done() || steps % training_.steps_per_epoch() == 0;
    return !options_.keep_going && steps > 0 && asks && !std::isfinite(last_.loss.item<double>());
  }

  void step() {
    const int64_t step = training_.next_step();
    const double learning_rate = training_.learning_rate();
    last_ = training_.step(cockpit_.get());
    if (schedule_.contains(step)) {
      std::map<std::string, double> values = {{"learning_rate", learning_rate}};
      if (training_.problem().has_accuracy()) values["batch_accuracy"] = training_.accuracy(last_);
      cockpit_->log(step, values);
    }
    report_.step_done(step, [this] { return last_score(); });
  }

  BatchScore last_score() const { return {last_.loss.item<double>(), training_.accuracy(last_)}; }

  void evaluate() {
    const int64_t step = training_.next_step();
    report_.evaluation_begins(step);
    Scores scores;
    using suite::Part;
    for (const auto& [part, name] : {std::make_pair(Part::kTrainEval, std::string("train")),
                                     std::make_pair(Part::kValid, std::string("valid")),
                                     std::make_pair(Part::kTest, std::string("test"))}) {
      if (training_.data().part(part).size() == 0) continue;
      const suite::Score score = training_.evaluate(part, [] { return !is_interrupted(); });
      if (is_interrupted()) return;  // half a score is none
      scores[name + "_loss"] = score.loss;
      if (training_.problem().has_accuracy()) scores[name + "_accuracy"] = score.accuracy;
    }
    cockpit_->log(step, scores);
    scores_ = scores;
    scores_step_ = step;
    report_.evaluation_done(step, scores);
  }

  void finish() {
    RunEnd end;
    end.ending = "finished";
    if (is_interrupted()) {
      end.ending = "interrupted";
      end.explanation = "the record is complete up to here";
    } else if (has_diverged()) {
      end.ending = "failed";
      end.explanation = "the loss is not finite any more; --keep-going goes on";
    }
    cockpit_->finish(end.ending);
    end.steps = training_.next_step();
    end.scores = scores_;
    end.scores_step = scores_step_;
    if (last_.loss.defined()) end.last_batch = last_score();
    end.notes = notes_->notes();
    end.recorder = recorder_->statistics();
    report_.end(end);
    if (options_.report) write_report(RunReader(folder_), {folder_, "", options_.json});
    TORCH_CHECK(end.ending != "failed", "run: training diverged at step ", end.steps);
  }

  const RunOptions& options_;
  std::string folder_;
  Schedule schedule_;
  Training training_;
  std::map<std::string, std::string> config_;
  RunReport report_;
  std::shared_ptr<Recorder> recorder_;
  std::shared_ptr<NoteSink> notes_;
  std::unique_ptr<Cockpit> cockpit_;  // last: its end is written to the others
  StepOutcome last_;
  Scores scores_;
  int64_t scores_step_ = -1;
};

void run(const CLI::App& command, RunOptions& options) {
  refuse_to_overwrite(options.out);
  if (options.report && !serve::has_page()) {
    throw UsageError(
        "run: --report needs the page of the dashboard, and this flightdeck was built without it; "
        "leave the option out, or install nodejs and npm, run cmake again and build");
  }
  Instruments instruments = complete_run_options(command, options);
  prepare_process(options.threads);
  note_interrupts();
  Run(options, std::move(instruments), chosen_folder(options)).execute();
}

}  // namespace

void add_run(CLI::App& app) {
  const auto options = std::make_shared<RunOptions>();
  CLI::App* command =
      app.add_subcommand("run", "Train a problem of the suite under a cockpit and record it.");
  add_run_options(*command, *options);
  command->footer(
      "Ctrl-C ends the run after the current step, with a complete record; a second one kills it.\n"
      "Examples:\n"
      "  flightdeck run fmnist_2c2d --preset business --epochs 2\n"
      "  flightdeck run mnist_mlp --optimizer adam --lr 1e-3 --set beta2=0.99 --synthetic\n"
      "  flightdeck run cifar10_3c3d --quantity loss --quantity \"hess_max_ev@every 50\" \\\n"
      "    --group module --out runs/sharpness");
  command->callback([options, command] { run(*command, *options); });
}

}  // namespace flightdeck::cli
