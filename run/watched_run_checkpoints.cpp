// SPDX-License-Identifier: MIT
// What a watched run keeps on disk beside its record: checkpoints to go on from, models, its
// outcome. A disk that refuses is told of, and the training goes on.
#include <exception>
#include <filesystem>

#include <ATen/ATen.h>
#include <c10/util/Exception.h>

#include "run/checkpoint_times.h"
#include "run/kept_models.h"
#include "run/watched_run_state.h"

namespace flightdeck::run {
namespace {

// Leaves out the stack trace of LibTorch's what().
std::string reason_of(const std::exception& error) {
  const auto* from_torch = dynamic_cast<const c10::Error*>(&error);
  return from_torch != nullptr ? from_torch->what_without_backtrace() : error.what();
}

}  // namespace

bool WatchedRun::State::is_checkpoint_due() {
  const int64_t step = training_.next_step();
  if (step == 0) return false;
  if (reactions_ && reactions_->takes_checkpoint()) {
    keep_model_now();
    return true;
  }
  if (options_.checkpoint_every) {
    return *options_.checkpoint_every > 0 && step % *options_.checkpoint_every == 0;
  }
  return is_checkpoint_time(step % training_.steps_per_epoch() == 0,
                            seconds_since(last_checkpoint_));
}

std::map<std::string, Tensor> WatchedRun::State::saved_reactions() const {
  std::map<std::string, Tensor> saved;
  if (!assistant_ && !reactions_) return saved;
  if (reactions_) saved = reactions_->save();
  if (assistant_) {
    saved.merge(assistant_->save());
    saved["choice"] = at::tensor({choice_.learning_rate, double(choice_.batch_size)}, at::kDouble);
  }
  saved["rate_factor"] = at::scalar_tensor(training_.rate_factor(), at::kDouble);
  return saved;
}

void WatchedRun::State::keep_model_if_due() {
  const int64_t step = training_.next_step();
  if (options_.keep_models && options_.keep_models->contains(step)) keep_model_now();
}

void WatchedRun::State::keep_model_now() {
  try {
    keep_model(options_.folder, training_.next_step(), *training_.model().module);
  } catch (const std::exception& error) {
    tell_once(reason_of(error));
  }
}

void WatchedRun::State::prepare_checkpoint() {
  RunProgress progress;
  progress.step = training_.next_step();
  progress.evaluated_at = evaluated_at_;
  progress.outcome = outcome_.outcome();
  progress.outcome.ending = Ending::kInterrupted;
  progress.config = identity_;
  progress.arguments = options_.arguments;
  progress.reactions = saved_reactions();
  std::error_code ignored;
  progress.folder = std::filesystem::current_path(ignored).string();
  try {
    checkpoint_.prepare(progress, training_, *cockpit_);
  } catch (const std::exception& error) {
    tell_once(reason_of(error));
  }
  last_checkpoint_ = Clock::now();
}

void WatchedRun::State::commit_checkpoint() {
  try {
    checkpoint_.commit();
  } catch (const std::exception& error) {
    tell_once(reason_of(error));
  }
}

// Tells each problem once. Later checkpoints are tried all the same: the disk may get room.
void WatchedRun::State::tell_once(const std::string& problem) {
  if (!told_.insert(problem).second) return;
  observer_.warning({RunWarning::About::kCheckpoint, problem, Checkpoint::exists(options_.folder)});
}

// Takes one more step, which completes the record of the one before, so that going on leaves no
// gap.
void WatchedRun::State::checkpoint_after_stop() {
  if (options_.checkpoint_every.value_or(1) == 0) return;
  prepare_checkpoint();
  step();
  commit_checkpoint();
}

// Returns false if it failed; the last checkpoint is kept then, to have the scores from.
bool WatchedRun::State::write_outcome(Ending ending) {
  study::Outcome outcome = outcome_.outcome();
  outcome.ending = ending;
  try {
    study::write_outcome(options_.folder, outcome);
    return true;
  } catch (const std::exception& error) {
    observer_.warning(
        {RunWarning::About::kOutcome, reason_of(error), Checkpoint::exists(options_.folder)});
    return false;
  }
}

}  // namespace flightdeck::run
