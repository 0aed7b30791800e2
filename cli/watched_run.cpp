// SPDX-License-Identifier: MIT
#include "cli/watched_run.h"

#include <cmath>
#include <filesystem>
#include <unistd.h>

#include <torch/torch.h>

#include "cli/checkpoint_times.h"
#include "cli/errors.h"
#include "cli/interrupt.h"
#include "cli/names.h"
#include "cli/numbers.h"
#include "cli/random_states.h"
#include "cli/report_file.h"
#include "src/base/exact_text.h"
#include "src/base/shell.h"

namespace flightdeck::cli {

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

namespace {

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
  std::map<std::string, std::string> config = {
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
  for (const auto& [key, value] : options.tags) config["tag " + key] = value;
  return config;
}

// Those of the last evaluation.
Scores scores_of(const study::Outcome& outcome) {
  Scores scores;
  const auto add = [&](const std::string& part, const study::Curve& curve) {
    if (!curve.loss.empty()) scores[part + "_loss"] = curve.loss.back();
    if (!curve.accuracy.empty()) scores[part + "_accuracy"] = curve.accuracy.back();
  };
  add("train", outcome.train);
  add("valid", outcome.valid);
  add("test", outcome.test);
  return scores;
}

// Of a run that goes on: what may differ without changing it.
bool may_differ(const std::string& key) {
  return key == "threads" || key == "data" || key.rfind("tag ", 0) == 0;
}

// The recorded configuration without roundings, and what it does not say.
std::map<std::string, std::string> identity_of(std::map<std::string, std::string> config,
                                               const RunOptions& options,
                                               const Training& training) {
  config["hyperparameters"].clear();
  for (const auto& [name, value] : training.hyperparameters()) {
    config["hyperparameters"] += name + " " + exact_text(value) + " ";
  }
  config["device"] = options.training.device.str();
  config["evaluate_every"] = std::to_string(options.evaluate_every);
  return config;
}

void check_same(const std::map<std::string, std::string>& config,
                const std::map<std::string, std::string>& saved) {
  std::string differences;
  for (const auto& [key, value] : config) {
    const auto before = saved.find(key);
    if (may_differ(key) || (before != saved.end() && before->second == value)) continue;
    differences += "\n  " + key + " is " + value + " but was " +
                   (before == saved.end() ? "not set" : before->second);
  }
  TORCH_CHECK(differences.empty(),
              "run: --resume cannot go on with another run",
              differences,
              "\n  give the options of the first start, or another --out");
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

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

WatchedRun::WatchedRun(const RunOptions& options,
                       Instruments instruments,
                       const std::string& folder,
                       const Checkpoint* checkpoint)
    : options_(options),
      folder_(folder),
      schedule_(instruments.schedule),
      training_(options.training),
      config_(config_of(options, instruments, training_)),
      identity_(identity_of(config_, options, training_)),
      outcome_(options.training, training_, options.tags),
      report_(facts(), options.json),
      checkpoint_(folder) {
  make_folder(folder);
  if (options.resume) check_same_run(checkpoint);
  make_cockpit(std::move(instruments));
  // Before the record is touched: what does not fit leaves it as it is.
  if (checkpoint != nullptr) restore(*checkpoint);
  begin_record();
}

WatchedRun::~WatchedRun() = default;

// Without a checkpoint the run begins anew, but only where it is the same run.
void WatchedRun::check_same_run(const Checkpoint* checkpoint) const {
  if (checkpoint != nullptr) return check_same(identity_, checkpoint->progress().config);
  if (!RunReader::is_run(folder_)) return;
  const RunSummary stored = RunReader(folder_).summary();
  if (stored.last_step >= 0 || !stored.info.config.empty()) check_same(config_, stored.info.config);
}

void WatchedRun::make_cockpit(Instruments instruments) {
  instruments.cockpit.on_warning = [this](const std::string& text) { report_.warning(text); };
  instruments.cockpit.seed = options_.training.seed;
  cockpit_ = std::make_unique<Cockpit>(
      training_.parameters(), std::move(instruments.quantities), instruments.cockpit);
}

void WatchedRun::begin_record() {
  RecorderOptions recording;
  recording.on_warning = [this](const std::string& text) { report_.warning(text); };
  const int64_t step = training_.next_step();
  if (options_.resume) recording.resume_at = step;
  recorder_ = std::make_shared<Recorder>(folder_, recording);
  notes_ = std::make_shared<NoteSink>(report_);
  cockpit_->add_sink(recorder_);
  cockpit_->add_sink(notes_);
  for (const auto& [key, value] : config_) cockpit_->describe(key, value);
  // The record forgot this step, and with it what was evaluated before it.
  if (evaluated_at_ == step) cockpit_->log(step, scores_);
}

void WatchedRun::restore(const Checkpoint& checkpoint) {
  const RunProgress& progress = checkpoint.progress();
  checkpoint.restore(*cockpit_);
  checkpoint.restore(training_);
  outcome_.go_on_with(progress.outcome);
  evaluated_at_ = progress.evaluated_at;
  scores_ = scores_of(progress.outcome);
  report_.resumed(progress.step, static_cast<int64_t>(progress.outcome.evaluated.size()));
}

void WatchedRun::execute() {
  report_.start();
  while (!training_.is_done() && !is_interrupted()) {
    if (is_evaluation_due()) evaluate();
    if (is_interrupted() || has_diverged()) break;
    if (is_checkpoint_due()) prepare_checkpoint();
    step();
    commit_checkpoint();
  }
  if (is_interrupted() && !training_.is_done()) {
    checkpoint_after_interrupt();
  } else if (!has_diverged() && options_.evaluate_every > 0) {
    evaluate();
  }
  finish();
}

RunFacts WatchedRun::facts() const {
  RunFacts facts;
  facts.problem = training_.problem().name;
  facts.folder = folder_;
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

bool WatchedRun::is_evaluation_due() const {
  const int64_t step = training_.next_step();
  return options_.evaluate_every > 0 && step != evaluated_at_ &&
         step % (options_.evaluate_every * training_.steps_per_epoch()) == 0;
}

bool WatchedRun::is_checkpoint_due() const {
  const int64_t step = training_.next_step();
  if (step == 0) return false;
  if (options_.checkpoint_every) {
    return *options_.checkpoint_every > 0 && step % *options_.checkpoint_every == 0;
  }
  return is_checkpoint_time(step % training_.steps_per_epoch() == 0,
                            seconds_since(last_checkpoint_));
}

// At the end of an epoch, as DeepOBS does, and of the run: within an epoch the instruments see how
// the numbers go bad.
bool WatchedRun::has_diverged() {
  const int64_t step = training_.next_step();
  const bool asks =
      options_.stop_diverged || training_.is_done() || step % training_.steps_per_epoch() == 0;
  return !options_.keep_going && asks && outcome_.has_diverged();
}

void WatchedRun::step() {
  const int64_t step = training_.next_step();
  const double learning_rate = training_.learning_rate();
  const Clock::time_point begin = Clock::now();
  last_ = training_.step(cockpit_.get());
  outcome_.step_done(step, last_.loss, seconds_since(begin));
  if (schedule_.contains(step)) {
    std::map<std::string, double> values = {{"learning_rate", learning_rate}};
    if (training_.problem().has_accuracy()) values["batch_accuracy"] = training_.accuracy(last_);
    cockpit_->log(step, values);
  }
  report_.step_done(step, [this] { return last_score(); });
}

BatchScore WatchedRun::last_score() const {
  return {last_.loss.item<double>(), training_.accuracy(last_)};
}

void WatchedRun::evaluate() {
  const int64_t step = training_.next_step();
  report_.evaluation_begins(step);
  const auto random = random_states(options_.training.device);
  const bool is_last = training_.is_done();  // nobody would come back to it
  Scores scores;
  using suite::Part;
  for (const auto& [part, name] : {std::make_pair(Part::kTrainEval, std::string("train")),
                                   std::make_pair(Part::kValid, std::string("valid")),
                                   std::make_pair(Part::kTest, std::string("test"))}) {
    if (training_.data().part(part).size() == 0) continue;
    const suite::Score score =
        training_.evaluate(part, [&] { return is_last || !is_interrupted(); });
    if (is_interrupted() && !is_last) {
      // Half a score is none; whoever goes on here evaluates again.
      set_random_states(random, options_.training.device);
      return;
    }
    scores[name + "_loss"] = score.loss;
    if (training_.problem().has_accuracy()) scores[name + "_accuracy"] = score.accuracy;
  }
  cockpit_->log(step, scores);
  outcome_.evaluated(step, scores);
  scores_ = scores;
  evaluated_at_ = step;
  report_.evaluation_done(step, scores);
}

void WatchedRun::prepare_checkpoint() {
  RunProgress progress;
  progress.step = training_.next_step();
  progress.evaluated_at = evaluated_at_;
  progress.outcome = outcome_.outcome();
  progress.config = identity_;
  progress.arguments = options_.arguments;
  std::error_code ignored;
  progress.folder = std::filesystem::current_path(ignored).string();
  try {
    checkpoint_.prepare(progress, training_, *cockpit_);
  } catch (const std::exception& error) {
    tell_once(message_of(error));
  }
  last_checkpoint_ = Clock::now();
}

void WatchedRun::commit_checkpoint() {
  try {
    checkpoint_.commit();
  } catch (const std::exception& error) {
    tell_once(message_of(error));
  }
}

// The next one is tried all the same: a disk may get room.
void WatchedRun::tell_once(const std::string& problem) {
  if (!told_.insert(problem).second) return;
  report_.warning("checkpoint: " + problem + "; training goes on, with " +
                  (Checkpoint::exists(folder_) ? "the last checkpoint kept" : "no checkpoint yet"));
}

// One more step completes the record of the one before, so that going on leaves no gap.
void WatchedRun::checkpoint_after_interrupt() {
  if (options_.checkpoint_every.value_or(1) == 0) return;
  prepare_checkpoint();
  step();
  commit_checkpoint();
}

// False: there is none, so that the last checkpoint is what the scores can be had from.
bool WatchedRun::write_outcome(const std::string& ending) {
  study::Outcome outcome = outcome_.outcome();
  outcome.ending = ending;
  try {
    study::write_outcome(folder_, outcome);
    return true;
  } catch (const std::exception& error) {
    report_.warning("outcome: " + std::string(error.what()) +
                    (Checkpoint::exists(folder_)
                         ? "; then 'flightdeck resume " + shell_word(folder_) + "' trains on to it"
                         : "; the scores are in the record alone"));
    return false;
  }
}

RunEnd WatchedRun::ending() {
  RunEnd end;
  end.ending = "finished";
  end.diverged_at = outcome_.outcome().diverged_at;
  if (!training_.is_done() && is_interrupted()) {
    end.ending = "interrupted";
    const std::string folder = std::filesystem::absolute(folder_).lexically_normal().string();
    end.explanation = Checkpoint::exists(folder_)
                          ? "to go on: flightdeck resume " + shell_word(folder)
                          : "the record is complete up to here; without a checkpoint nothing can "
                            "go on from it";
  } else if (end.diverged_at >= 0) {
    end.ending = "diverged";
    end.explanation = "the loss was not finite at step " + std::to_string(end.diverged_at) +
                      (options_.keep_going ? ", and the training went on as asked"
                                           : "; try a smaller --lr, or go on with --keep-going");
  }
  return end;
}

void WatchedRun::finish() {
  RunEnd end = ending();
  const bool is_interrupted = end.ending == "interrupted";
  end.steps = training_.next_step();
  const bool has_outcome = write_outcome(end.ending);
  if (!is_interrupted && has_outcome) checkpoint_.remove();
  cockpit_->describe("steps_taken", std::to_string(end.steps));
  if (end.diverged_at >= 0) {
    cockpit_->describe("diverged_at", std::to_string(end.diverged_at));
  }
  cockpit_->finish(end.ending);
  end.scores = scores_;
  end.scores_step = evaluated_at_;
  if (last_.loss.defined()) end.last_batch = last_score();
  end.notes = notes_->notes();
  end.recorder = recorder_->statistics();
  report_.end(end);
  if (options_.report) write_report(RunReader(folder_), {folder_, "", options_.json});
  if (is_interrupted) throw interruption();
  TORCH_CHECK(end.ending != "diverged" || options_.keep_going,
              "run: training diverged at step ",
              end.diverged_at);
  TORCH_CHECK(has_outcome, "run: there is no outcome.json in ", folder_, ", as told above");
}

}  // namespace flightdeck::cli
