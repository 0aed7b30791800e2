// SPDX-License-Identifier: MIT
// Trains a small problem with the installed run library, stops it, goes on with it in the same
// folder, and reads the outcome: it is that of a run that never stopped.
#include <cstdlib>
#include <iostream>
#include <run/watched_run.h>
#include <string>
#include <study/outcome.h>

namespace {

namespace run = flightdeck::run;

run::RunOptions options_for(const std::string& folder) {
  run::RunOptions options;
  options.training.problem = "mnist_logreg";
  options.training.data.synthetic = true;
  options.training.data.limit = 256;
  options.training.batch_size = 32;
  options.training.steps = 12;
  options.tracking = run::tracked_preset("economy", flightdeck::DueSteps::every(4));
  options.folder = folder;
  return options;
}

void check(bool is_right, const char* what) {
  std::cout << (is_right ? "ok: " : "WRONG: ") << what << "\n";
  if (!is_right) std::exit(1);
}

class StepCounter : public run::RunObserver {
 public:
  void step_done(int64_t, const std::function<run::BatchScore()>&) override { ++steps; }
  int steps = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string folder = argv[1];
  const run::RunEnd whole = run::WatchedRun(options_for(folder + "/whole")).execute();

  run::RunOptions parted = options_for(folder + "/parted");
  StepCounter before, after;
  parted.is_stop_wanted = [&before] { return before.steps >= 5; };
  const run::RunEnd stopped = run::WatchedRun(parted, &before).execute();
  check(stopped.ending == flightdeck::Ending::kInterrupted, "the run was interrupted");

  parted.is_stop_wanted = nullptr;
  parted.resume = true;
  const run::RunEnd finished = run::WatchedRun(parted, &after).execute();
  check(finished.ending == flightdeck::Ending::kFinished, "the run went on to its end");
  check(before.steps + after.steps == 13, "one step was taken again, none left out");

  const flightdeck::study::Outcome outcome = flightdeck::study::read_outcome(finished.folder);
  check(outcome.steps == 12, "the outcome counts all steps");
  check(finished.scores == whole.scores, "the scores are those of a run that never stopped");
  return 0;
}
