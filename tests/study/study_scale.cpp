// SPDX-License-Identifier: MIT
// A comparison of any size whose runs never took place: planned, submitted to a Slurm that only
// counts, worked off by made-up outcomes, read again and analysed, with the seconds of each and the
// most memory. study_scale FOLDER [PROBLEMS OPTIMIZERS SCHEDULES EPOCHS]; the published comparison
// has 8 15 4 and 53 760 runs.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <sys/resource.h>

#include "src/base/whole_file.h"
#include "study/analysis/analysis.h"
#include "study/analysis/write.h"
#include "study/estimate.h"
#include "study/files.h"
#include "study/slurm.h"
#include "study/study.h"

namespace {

using namespace flightdeck::study;
namespace fs = std::filesystem;

constexpr size_t kRunsOfACombination = 112;  // ten untuned, 75 draws, nine seeds of three best
constexpr double kMostMegabytes = 2000;

void check(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error("study_scale: " + what);
}

Request request_of(const long (&sizes)[3]) {
  using Kind = Search::Kind;
  Request request;
  for (long k = 0; k < sizes[0]; ++k) request.problems.push_back("problem" + std::to_string(k));
  for (long k = 0; k < sizes[1]; ++k) {
    request.optimizers.push_back({"optimizer" + std::to_string(k),
                                  {{"learning_rate", {Kind::kLogUniform, 1e-4, 1, false, {}}, 0.01},
                                   {"momentum", {Kind::kLogUniform, 1e-3, 1, true, {}}, 0.9}}});
  }
  for (long k = 0; k < sizes[2]; ++k) {
    request.schedules.push_back(k == 0 ? "constant" : "cosine_restarts:" + std::to_string(k));
  }
  request.budgets = {"one_shot", "small", "medium", "large"};
  return request;
}

// Better the nearer the learning rate is to one of its own; a rate far above it diverges.
Outcome made_up(const PlannedRun& run, int64_t epochs) {
  Outcome outcome;
  outcome.setting = {run.problem, run.optimizer, run.schedule, run.hyperparameters, 128, epochs};
  outcome.seed = run.seed;
  outcome.tags["sample"] = run.sample;
  outcome.steps_per_epoch = 390;
  outcome.reported_epoch = epochs;
  outcome.training_seconds = outcome.seconds = 100;
  outcome.batch_loss_every = 130;
  const double off = std::log10(run.hyperparameters.at("learning_rate") / 0.03);
  outcome.ending = off > 1.2 ? flightdeck::Ending::kDiverged : flightdeck::Ending::kFinished;
  const int64_t last = off > 1.2 ? 1 : epochs;
  outcome.steps = 390 * last;
  if (off > 1.2) outcome.diverged_at = 100;
  for (int64_t epoch = 0; epoch <= last; ++epoch) {
    outcome.evaluated.push_back(epoch);
    const double loss = 1 + off * off + 10.0 / static_cast<double>(1 + epoch) +
                        1e-3 * static_cast<double>(run.seed % 10);
    for (Curve* curve : {&outcome.train, &outcome.valid, &outcome.test}) {
      curve->loss.push_back(loss);
      curve->accuracy.push_back(1 / loss);
    }
    if (epoch > 0) outcome.batch_losses.insert(outcome.batch_losses.end(), 3, loss);
  }
  return outcome;
}

// sbatch counts its calls in a file; nothing is ever in the queue.
void stand_in_for_slurm(const std::string& folder) {
  const auto program = [&](const char* name, const std::string& text) {
    const std::string path = folder + "/bin/" + name;
    flightdeck::replace_file(path, "#!/bin/sh\n" + text + "\n");
    fs::permissions(path, fs::perms::owner_all);
  };
  program("scontrol", "echo 'MaxArraySize = 1001'");
  program("squeue", "exit 0");
  program("sbatch", "echo \"$*\" >>'" + folder + "/submitted'; wc -l <'" + folder + "/submitted'");
  const std::string path = folder + "/bin:" + std::getenv("PATH");
  ::setenv("PATH", path.c_str(), 1);
}

double megabytes() {
  struct rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

class Stopwatch {
 public:
  void tell(const char* what) {
    const auto now = std::chrono::steady_clock::now();
    const std::chrono::duration<double> took = now - begin_;
    std::printf("%-40s %8.2f s %8.0f MB at most so far\n", what, took.count(), megabytes());
    std::fflush(stdout);
    begin_ = std::chrono::steady_clock::now();
  }

  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

void submit_all(const Study& study, const std::string& folder) {
  std::ofstream(folder + "/submitted").close();
  size_t open = 0;
  for (const PlannedRun& run : study.plan()) open += study.has_ended(run) ? 0 : 1;
  const Submission submission = submit(study, "/usr/bin/flightdeck", {"--time=60"});
  check(submission.runs == open, "not every open run is submitted");
  // Arrays of at most 1001 runs, and the job behind them.
  check(submission.jobs.size() <= open / 1001 + 2, "there are more job arrays than needed");
}

void work_off(Study& study, int64_t epochs) {
  for (size_t k = 0; k < study.plan().size(); ++k) {
    const PlannedRun run = study.plan()[k];
    write_outcome(run_folder(study.folder(), run), made_up(run, epochs));
    check(study.look_at(run), run.id + " has an outcome that is not seen");
  }
}

void analyse(const std::string& folder, size_t runs) {
  std::vector<std::string> problems;
  const std::vector<Outcome> outcomes = find_outcomes(folder + "/study", problems);
  check(outcomes.size() == runs && problems.empty(), "not every outcome is read");
  const Analysis analysis = analyze(outcomes, {}, {});
  check(!analysis.trials.empty(), "nothing is compared");
  write_analysis(analysis, folder + "/analysis", {"html", "csv", "latex"});
}

void run_all(const std::string& folder, const long (&sizes)[3], int64_t epochs) {
  for (const char* name : {"study", "analysis"}) fs::remove_all(folder + "/" + name);
  stand_in_for_slurm(folder);
  Stopwatch stopwatch;
  const Stopwatch whole;
  const Request request = request_of(sizes);
  const size_t combined = combinations(request).size();
  check(most_runs(request) == combined * kRunsOfACombination, "the plan's bound is not 112 each");
  Study::make(folder + "/study", request);
  Study study(folder + "/study");
  stopwatch.tell("planned the first stage");
  submit_all(study, folder);
  stopwatch.tell("submitted it");
  work_off(study, epochs);
  const size_t runs = study.plan().size();
  check(runs <= most_runs(request) && runs > most_runs(request) * 7 / 10, "the plan is not whole");
  stopwatch.tell(("worked off " + std::to_string(runs) + " runs").c_str());
  const Study again(folder + "/study");
  check(again.scores().size() == runs, "a study read again lacks scores");
  for (const TunedSetting& tuned : tuned_settings(again.request(), again.scores())) {
    check(tuned.is_complete, "a best setting lacks seeds");
  }
  check(estimate_of(again).measured == runs, "an estimate does not rest on all runs");
  stopwatch.tell("read again, with findings and estimate");
  analyse(folder, runs);
  stopwatch.tell("analysed and written");
  // Told and not checked: seconds are those of the machine and of its disk.
  std::printf("%zu runs in %.0f s; an idle machine is to take less than %.0f s\n",
              runs,
              whole.seconds(),
              10 + static_cast<double>(runs) / 500);
  check(megabytes() < kMostMegabytes, "it takes too much memory");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  long sizes[] = {1, 2, 1};
  for (int k = 0; k < 3 && argc > k + 2; ++k) sizes[k] = std::atol(argv[k + 2]);
  const int64_t epochs = argc > 5 ? std::atol(argv[5]) : 3;
  const std::string folder = fs::absolute(argv[1]).string();
  try {
    run_all(folder, sizes, epochs);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
