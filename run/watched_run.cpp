// SPDX-License-Identifier: MIT
#include "run/watched_run.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <unistd.h>
#include <utility>

#include <ATen/ATen.h>
#include <c10/util/Exception.h>

#include "flightdeck/finding_sink.h"
#include "run/fault_bench.h"
#include "run/final_parameters.h"
#include "run/mistakes.h"
#include "run/random_states.h"
#include "run/run_config.h"
#include "run/sample_pictures.h"
#include "run/watched_run_state.h"

namespace flightdeck::run {
namespace {

// Returns the scores of the last evaluation.
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

RunOptions checked(RunOptions options) {
  TORCH_CHECK_VALUE(!options.folder.empty(),
                    "run: options.folder is empty; name the folder of the record");
  TORCH_CHECK_VALUE(options.evaluate_every >= 0,
                    "run: options.evaluate_every is ",
                    options.evaluate_every,
                    " but must be at least 0, which is never");
  TORCH_CHECK_VALUE(!(options.keep_going && options.stop_diverged),
                    "run: options.keep_going and options.stop_diverged exclude each other; set one "
                    "of them");
  check_reactions(options.reactions);
  check_wanted("run: options.alert_on", options.alert_on);
  return options;
}

void make_folder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  TORCH_CHECK(!error && access(folder.c_str(), W_OK) == 0,
              "run: cannot write to the folder ",
              folder,
              " (",
              error ? error.message() : "permission denied",
              "); choose another folder");
}

// Chooses for an assisted run, or takes what its checkpoint knows. Changes the options as if the
// choice had been given.
AssistChoice choice_of(const suite::Problem& problem,
                       RunOptions& options,
                       const Checkpoint* start) {
  AssistChoice choice;
  if (!options.assist) return choice;
  track_for_assist(options.tracking);
  if (start != nullptr && start->progress().reactions.count("choice") != 0) {
    const Tensor known = start->progress().reactions.at("choice");
    choice.learning_rate = known[0].item<double>();
    choice.batch_size = static_cast<int64_t>(known[1].item<double>());
  } else {
    choice = choose(problem, options.training);
  }
  options.training.hyperparameters["learning_rate"] = choice.learning_rate;
  options.training.batch_size = choice.batch_size;
  return choice;
}

std::unique_ptr<Checkpoint> checkpoint_of(const RunOptions& options) {
  if (!options.resume || !Checkpoint::exists(options.folder)) return nullptr;
  return std::make_unique<Checkpoint>(options.folder);
}

}  // namespace

WatchedRun::State::State(const suite::Problem& problem, RunOptions options, RunObserver* observer)
    : options_(checked(std::move(options))),
      observer_(observer == nullptr ? nobody_ : *observer),
      start_(checkpoint_of(options_)),
      choice_(choice_of(problem, options_, start_.get())),
      training_(problem, options_.training),
      config_(config_of(options_, training_)),
      identity_(identity_of(config_, options_, training_)),
      outcome_(options_.training, training_, options_.tags),
      checkpoint_(options_.folder) {
  make_folder(options_.folder);
  if (options_.resume) check_same();
  make_cockpit();
  // This comes before the record is touched, so that a checkpoint that does not fit leaves it as it
  // is.
  if (start_) restore();
  begin_record();
  begin_reactions();
  start_.reset();
}

// Throws if the folder holds another run; without a checkpoint the same run begins anew.
void WatchedRun::State::check_same() const {
  if (start_) return check_same_run(identity_, start_->progress().config);
  if (!RunReader::is_run(options_.folder)) return;
  const RunSummary stored = RunReader(options_.folder).summary();
  if (stored.last_step >= 0 || !stored.info.config.empty()) {
    check_same_run(config_, stored.info.config);
  }
}

void WatchedRun::State::make_cockpit() {
  Tracking tracking = options_.tracking;
  tracking.cockpit.on_warning = [this](const std::string& text) {
    observer_.warning({RunWarning::About::kWatching, text, false});
  };
  tracking.cockpit.seed = options_.training.seed;
  tracks_learning_rate_ =
      std::any_of(tracking.quantities.begin(), tracking.quantities.end(), [](const Quantity& one) {
        return one.name() == "learning_rate";
      });
  cockpit_ = std::make_unique<Cockpit>(
      training_.parameters(), std::move(tracking.quantities), tracking.cockpit);
}

void WatchedRun::State::begin_record() {
  RecorderOptions recording;
  recording.on_warning = [this](const std::string& text) {
    observer_.warning({RunWarning::About::kWatching, text, false});
  };
  const int64_t step = training_.next_step();
  if (options_.resume) recording.resume_at = step;
  recorder_ = std::make_shared<Recorder>(options_.folder, recording);
  notes_ = std::make_shared<NoteSink>(observer_);
  cockpit_->add_sink(recorder_);
  cockpit_->add_sink(notes_);
  cockpit_->add_sink(
      std::make_shared<SamplePictures>(training_, *cockpit_, options_.tracking.quantities));
  FindingSinkOptions finding;
  finding.looks_at_end = false;
  cockpit_->add_sink(std::make_shared<FindingSink>(
      options_.folder,
      [this](const Finding& found, const Diagnosis&) { observer_.finding(found); },
      finding));
  if (options_.alert) {
    FindingSinkOptions told;
    told.on = options_.alert_on;
    cockpit_->add_sink(std::make_shared<FindingSink>(options_.folder, options_.alert, told));
  }
  for (const auto& [key, value] : config_) cockpit_->describe(key, value);
  // The record ends before this step, so what was evaluated here is logged again.
  if (evaluated_at_ == step) cockpit_->log(step, scores_);
}

// Begins assistant and reactions. A run that stopped at a lamp does not stop there again when it
// goes on.
void WatchedRun::State::begin_reactions() {
  const auto tell = [this](int64_t step, const std::string& what) {
    observer_.intervened(step, what);
  };
  if (options_.assist) {
    assistant_ = std::make_unique<Assistant>(options_.folder, training_, *cockpit_, tell);
  }
  if (options_.reactions.any()) {
    reactions_ = std::make_unique<Reactions>(
        options_.reactions, options_.folder, loop_of(training_), *cockpit_, tell);
    say_what_cannot_light();
  }
  if (!start_) return;
  const std::map<std::string, Tensor>& saved = start_->progress().reactions;
  if (saved.count("rate_factor") != 0) {
    training_.set_rate_factor(saved.at("rate_factor").item<double>());
  }
  if (assistant_) assistant_->load(saved);
  if (reactions_) reactions_->load(saved);
}

// Is called between the backward pass and the update.
bool WatchedRun::State::takes_update() {
  if (assistant_) assistant_->decide();
  return !reactions_ || reactions_->takes_update(training_.next_step());
}

// Warns of lamps named in the options whose quantities are not tracked: they cannot light.
void WatchedRun::State::say_what_cannot_light() {
  std::set<std::string> tracked;
  for (const Quantity& one : options_.tracking.quantities) tracked.insert(one.name());
  std::set<std::string> known;
  for (const Quantity& one : all_quantities()) known.insert(one.name());
  for (const Lamp& lamp : lamp_catalogue()) {
    if (!options_.reactions.names(lamp.name)) continue;
    for (const std::string& read : lamp.reads) {
      if (known.count(read) == 0 || tracked.count(read) != 0) continue;
      observer_.warning({RunWarning::About::kWatching,
                         "the lamp " + lamp.name + " is waited for, but reads " + read +
                             ", which is not tracked; track it too",
                         false});
    }
  }
}

void WatchedRun::State::restore() {
  const RunProgress& progress = start_->progress();
  start_->restore(*cockpit_);
  start_->restore(training_);
  outcome_.go_on_with(progress.outcome);
  evaluated_at_ = progress.evaluated_at;
  evaluated_before_ = static_cast<int64_t>(progress.outcome.evaluated.size());
  scores_ = scores_of(progress.outcome);
}

RunEnd WatchedRun::State::execute() {
  observer_.started(facts());
  while (!is_over() && !is_stop_wanted()) {
    if (has_diverged()) break;
    if (is_evaluation_due()) evaluate();
    if (is_stop_wanted()) break;
    keep_model_if_due();
    if (is_checkpoint_due()) prepare_checkpoint();
    step();
    commit_checkpoint();
  }
  if (is_over()) keep_model_if_due();
  if (is_stop_wanted() && !is_over()) {
    checkpoint_after_stop();
  } else if (!has_diverged() && options_.evaluate_every > 0) {
    evaluate();
  }
  return finish();
}

RunFacts WatchedRun::State::facts() const {
  RunFacts facts;
  facts.problem = training_.problem().name;
  facts.folder = options_.folder;
  facts.is_synthetic = training_.data().is_synthetic;
  facts.steps = training_.total_steps();
  facts.steps_per_epoch = training_.steps_per_epoch();
  facts.first_step = training_.next_step();
  if (options_.evaluate_every > 0) {
    const int64_t interval = options_.evaluate_every * facts.steps_per_epoch;
    facts.evaluations = 1 + (facts.steps + interval - 1) / interval - evaluated_before_;
  }
  facts.config = config_;
  return facts;
}

bool WatchedRun::State::is_evaluation_due() const {
  const int64_t step = training_.next_step();
  return options_.evaluate_every > 0 && step != evaluated_at_ &&
         step % (options_.evaluate_every * training_.steps_per_epoch()) == 0;
}

// Asks at every step where the loss is there without waiting. Steps after a loss that is not finite
// tell nothing more: the quantities have seen how the numbers went bad.
bool WatchedRun::State::has_diverged() {
  constexpr int64_t kStepsBetween = 10;
  const int64_t step = training_.next_step();
  const bool asks = options_.stop_diverged || options_.training.device.is_cpu() ||
                    training_.is_done() || step % kStepsBetween == 0 ||
                    step % training_.steps_per_epoch() == 0;
  return !options_.keep_going && asks && outcome_.has_diverged();
}

void WatchedRun::State::step() {
  const int64_t step = training_.next_step();
  const double learning_rate = training_.learning_rate();
  const Clock::time_point begin = Clock::now();
  if (reactions_ || assistant_) {
    last_ = training_.step(cockpit_.get(), [this] { return takes_update(); });
  } else {
    last_ = training_.step(cockpit_.get());
  }
  const bool ends_nothing = reactions_ && reactions_->was_last_left_out();
  outcome_.step_done(step, last_.loss, seconds_since(begin), ends_nothing);
  if (options_.tracking.due.contains(step)) {
    std::map<std::string, double> values;
    if (!tracks_learning_rate_) values["learning_rate"] = learning_rate;
    if (training_.problem().has_accuracy()) values["batch_accuracy"] = training_.accuracy(last_);
    if (!values.empty()) cockpit_->log(step, values);
  }
  observer_.step_done(step, [this] { return last_score(); });
}

BatchScore WatchedRun::State::last_score() const {
  return {last_.loss.item<double>(), training_.accuracy(last_)};
}

void WatchedRun::State::evaluate() {
  const int64_t step = training_.next_step();
  observer_.evaluation_begins(step);
  const auto random = random_states(options_.training.device);
  const bool is_last = is_over();  // nobody would come back to it
  Scores scores;
  std::optional<suite::Mistakes> mistakes;
  using suite::Part;
  for (const auto& [part, name] : {std::make_pair(Part::kTrainEval, std::string("train")),
                                   std::make_pair(Part::kValid, std::string("valid")),
                                   std::make_pair(Part::kTest, std::string("test"))}) {
    if (training_.data().part(part).size() == 0) continue;
    const suite::Score score = training_.evaluate(
        part,
        [&] { return is_last || !is_stop_wanted(); },
        is_last && part == Part::kTest ? &mistakes : nullptr);
    if (is_stop_wanted() && !is_last) {
      // A score of half a part is no score; a run that goes on here evaluates again.
      set_random_states(random, options_.training.device);
      return;
    }
    scores[name + "_loss"] = score.loss;
    if (training_.problem().has_accuracy()) scores[name + "_accuracy"] = score.accuracy;
  }
  cockpit_->log(step, scores);
  if (mistakes) cockpit_->log_readings(step, readings_of(*mistakes));
  if (is_last) cockpit_->log_readings(step, final_parameter_readings(training_.parameters()));
  outcome_.evaluated(step, scores);
  scores_ = scores;
  evaluated_at_ = step;
  observer_.evaluation_done(step, scores);
}

Ending WatchedRun::State::ending() {
  if (!is_over() && is_stop_wanted()) return Ending::kInterrupted;
  return outcome_.outcome().diverged_at >= 0 ? Ending::kDiverged : Ending::kFinished;
}

RunEnd WatchedRun::State::finish() {
  RunEnd end;
  end.ending = ending();
  end.folder = options_.folder;
  end.steps = training_.next_step();
  end.diverged_at = outcome_.outcome().diverged_at;
  if (reactions_ && end.ending == Ending::kInterrupted) end.stopped_by = reactions_->stopped_by();
  end.went_on = end.diverged_at >= 0 && options_.keep_going;
  end.has_outcome = write_outcome(end.ending);
  if (end.ending != Ending::kInterrupted && end.has_outcome) checkpoint_.remove();
  end.has_checkpoint = Checkpoint::exists(options_.folder);
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
  observer_.ended(end);
  return end;
}

WatchedRun::WatchedRun(RunOptions options, RunObserver* observer)
    : WatchedRun(suite::find_problem(options.training.problem), options, observer) {}

WatchedRun::WatchedRun(const suite::Problem& problem, RunOptions options, RunObserver* observer)
    : state_(std::make_unique<State>(problem, std::move(options), observer)) {}

WatchedRun::~WatchedRun() = default;

const Training& WatchedRun::training() const { return state_->training(); }

RunEnd WatchedRun::execute() { return state_->execute(); }

}  // namespace flightdeck::run
