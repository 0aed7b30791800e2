// SPDX-License-Identifier: MIT
#include "study/execution.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/whole_file.h"
#include "study/estimate.h"
#include "study/files.h"
#include "study/folders.h"
#include "study/lock.h"
#include "study/outcome.h"
#include "study/outcomes.h"
#include "study/requests.h"

namespace flightdeck::study {
namespace {

namespace fs = std::filesystem;

// A study in a folder, worked on by a script that stands for `flightdeck run`.
class ExecutionTest : public testing::Test {
 protected:
  void make(std::vector<std::string> budgets, int64_t seeds = 2) {
    Request request = small_request(std::move(budgets));
    request.seeds = seeds;
    Study::make(study_, request);
  }

  Execution execution(int jobs = 2) {
    Execution execution;
    execution.runner = {"sh", FLIGHTDECK_FAKE_RUN, folder_.path()};
    execution.jobs = jobs;
    execution.on_event = [this](const RunEvent& event) {
      if (event.kind == RunEvent::Kind::kFailed)
        failures_.push_back(event.run.id + ": " + event.text);
    };
    return execution;
  }

  Progress work(int jobs = 2) {
    Study study(study_);
    return execute(study, execution(jobs));
  }

  void touch(const std::string& name) { std::ofstream(folder_.path() + "/" + name) << ""; }
  void remove(const std::string& name) { fs::remove(folder_.path() + "/" + name); }

  // A line for every start of a run.
  std::vector<std::string> started() const {
    std::ifstream file(folder_.path() + "/started");
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }

  TemporaryFolder folder_;
  std::string study_ = folder_.path() + "/study";
  std::vector<std::string> failures_;
};

TEST_F(ExecutionTest, RunsEveryStageToItsEnd) {
  make({"one_shot", "small", "medium", "large"});
  const Progress progress = work();
  EXPECT_EQ(progress.failed, 0u);
  EXPECT_EQ(progress.ended, progress.planned);
  EXPECT_GE(progress.planned, 2u + 75 + 1);
  EXPECT_LE(progress.planned, progress.most);
  EXPECT_EQ(started().size(), progress.planned);
  // The smallest learning rate has the smallest loss.
  const Study study(study_);
  double best = 1;
  for (const auto& [id, score] : study.scores()) best = std::min(best, score.tuning);
  const std::vector<TunedSetting> found = tuned_settings(study.request(), study.scores());
  EXPECT_TRUE(found.back().is_complete);
  EXPECT_EQ(found.back().spread.mean, best);
}

TEST_F(ExecutionTest, DoesNothingTheSecondTime) {
  make({"small"});
  work();
  const size_t before = started().size();
  const std::string plan = read_file(study_ + "/plan.jsonl");
  const Progress progress = work();
  EXPECT_EQ(progress.ended, 26u);
  EXPECT_EQ(started().size(), before);
  EXPECT_EQ(read_file(study_ + "/plan.jsonl"), plan);
}

TEST_F(ExecutionTest, NeverRepeatsARunThatDiverged) {
  make({"small"});
  touch("diverge-random-003");
  EXPECT_EQ(work().failed, 0u);
  EXPECT_EQ(work().ended, 26u);
  EXPECT_EQ(started().size(), 26u);
}

TEST_F(ExecutionTest, ReportsAFailureWithItsLogAndGoesOnWithTheOthers) {
  make({"one_shot", "small"});
  touch("fail-random-003");
  Progress progress = work();
  EXPECT_EQ(progress.failed, 1u);
  EXPECT_EQ(progress.ended, 2u + 24);
  ASSERT_EQ(failures_.size(), 1u);
  EXPECT_NE(failures_[0].find("random-003/seed-42: exit status 3"), std::string::npos);
  EXPECT_NE(failures_[0].find("the disk is full of random-003"), std::string::npos);
  remove("fail-random-003");
  progress = work();
  EXPECT_EQ(progress.failed, 0u);
  EXPECT_EQ(progress.ended, 2u + 25 + 1);
}

TEST_F(ExecutionTest, EndsItsRunsKindlyAndGoesOnLater) {
  make({"small"});
  touch("wait");
  Study study(study_);
  Execution execution = this->execution();
  execution.interrupts = [this] { return started().size() >= 2 ? 1 : 0; };
  const Progress progress = execute(study, execution);
  EXPECT_EQ(progress.ended, 0u);
  EXPECT_EQ(progress.failed, 0u);
  ASSERT_EQ(started().size(), 2u);
  EXPECT_EQ(read_outcome(run_folder(study_, study.plan()[0])).ending, Ending::kInterrupted);
  remove("wait");
  EXPECT_EQ(work().ended, 26u);
}

TEST_F(ExecutionTest, KillsItsRunsAtTheSecondInterrupt) {
  make({"small"});
  touch("wait");
  Study study(study_);
  Execution execution = this->execution();
  execution.runner = {"sh", "-c", "trap '' TERM; echo >>" + folder_.path() + "/started; sleep 100"};
  int wishes = 0;
  execution.interrupts = [&] { return started().size() >= 2 ? ++wishes : 0; };
  EXPECT_EQ(execute(study, execution).ended, 0u);
  EXPECT_FALSE(has_outcome(run_folder(study_, study.plan()[0])));
}

TEST_F(ExecutionTest, StartsRunsByALauncherAndWaitsForOutcomesThatComeLate) {
  make({"one_shot"}, 3);
  Study study(study_);
  Execution elsewhere = execution();
  // Ends well before the run has begun.
  elsewhere.launcher.emplace("sh -c '{command} &'", std::vector<std::string>());
  const Progress progress = execute(study, elsewhere);
  EXPECT_EQ(progress.ended, 3u);
  EXPECT_EQ(progress.failed, 0u) << failures_.front();
}

TEST_F(ExecutionTest, ReportsALauncherThatFailsOrLeavesNothingAfterAWhile) {
  make({"one_shot"}, 2);
  for (const char* text : {"sh -c 'echo no route; exit 255' {words}", "true {words}"}) {
    failures_.clear();
    Study study(study_);
    Execution elsewhere = execution();
    elsewhere.launcher.emplace(text, std::vector<std::string>());
    elsewhere.outcome_patience_s = 0.05;
    EXPECT_EQ(execute(study, elsewhere).failed, 2u);
    ASSERT_EQ(failures_.size(), 2u);
    const std::string how = text[0] == 's' ? "no route" : "exit status 0";
    EXPECT_NE(failures_[0].find(how), std::string::npos) << failures_[0];
  }
  EXPECT_EQ(work().ended, 2u);
}

TEST_F(ExecutionTest, RunsOneOfEachProblemForAPilot) {
  make({"small"});
  Study study(study_);
  Execution pilot = execution();
  pilot.only = pilot_places(study);
  EXPECT_EQ(pilot.only->size(), 1u);
  EXPECT_EQ(execute(study, pilot).ended, 1u);
  pilot.only = pilot_places(study);
  EXPECT_TRUE(pilot.only->empty());
  EXPECT_EQ(execute(study, pilot).ended, 1u);
}

TEST_F(ExecutionTest, EstimatesWhatIsLeftByWhatFinished) {
  make({"one_shot"}, 5);
  const Estimate before = estimate_of(Study(study_));
  EXPECT_EQ(before.left, 5u);
  EXPECT_EQ(before.measured, 0u);
  EXPECT_EQ(before.unknown, std::vector<std::string>{"quadratic_deep"});
  EXPECT_EQ(before.unknown_runs, 5u);
  const Study study(study_);
  Outcome outcome = with_losses("momentum", "default", 42, {9, 1});
  outcome.seconds = 10;
  write_outcome(run_folder(study_, study.plan()[0]), outcome);
  outcome = diverged_in(outcome, 1, 1);
  outcome.seconds = 1;  // would be a bad measure
  write_outcome(run_folder(study_, study.plan()[1]), outcome);
  const Estimate after = estimate_of(Study(study_));
  EXPECT_EQ(after.left, 3u);
  EXPECT_EQ(after.measured, 2u);
  EXPECT_TRUE(after.unknown.empty());
  EXPECT_DOUBLE_EQ(after.seconds, 30);
}

TEST_F(ExecutionTest, SharesTheWorkBetweenTwoProcesses) {
  make({"small", "medium"});
  const pid_t other = fork();
  if (other == 0) _exit(work().failed == 0 ? 0 : 1);
  const Progress progress = work();
  int status = -1;
  ASSERT_EQ(waitpid(other, &status, 0), other);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(progress.failed, 0u);
  EXPECT_EQ(progress.ended, progress.planned);
  std::vector<std::string> lines = started();
  std::sort(lines.begin(), lines.end());
  EXPECT_EQ(std::unique(lines.begin(), lines.end()), lines.end());
  EXPECT_EQ(lines.size(), progress.planned);
  EXPECT_EQ(read_plan(study_).size(), progress.planned);
}

TEST_F(ExecutionTest, LeavesARunAloneThatAnotherProcessHas) {
  make({"one_shot"});
  const Study study(study_);
  FileLock lock = FileLock::try_for(run_lock(study_, study.plan()[0]));
  ASSERT_TRUE(lock.is_held());
  Study mine(study_);
  Execution execution = this->execution();
  size_t elsewhere = 0;
  execution.on_progress = [&](const Progress& progress) {
    elsewhere = std::max(elsewhere, progress.elsewhere);
    if (progress.ended == 1) lock.release();
  };
  EXPECT_EQ(execute(mine, execution).ended, 2u);
  EXPECT_EQ(elsewhere, 1u);
}

TEST_F(ExecutionTest, RepeatsARunWhoseOutcomeIsDamaged) {
  make({"one_shot"});
  work();
  replace_file(outcome_file(run_folder(study_, read_plan(study_)[1])), "{");
  EXPECT_EQ(work().ended, 2u);
  EXPECT_EQ(started().size(), 3u);
}

TEST_F(ExecutionTest, BecomesOneRunOfThePlan) {
  make({"one_shot"});
  const Study planned(study_);
  const auto become = [&](size_t place) {
    const pid_t child = fork();
    if (child == 0) {
      become_run(study_, place, {"sh", FLIGHTDECK_FAKE_RUN, folder_.path()}, 1);
      _exit(7);  // there was nothing to do
    }
    int status = -1;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
  };
  EXPECT_EQ(become(1), 0);
  EXPECT_EQ(started(), (std::vector<std::string>{"default 43"}));
  EXPECT_EQ(become(1), 7);
  EXPECT_THROW(become_run(study_, 2, {"sh"}, 1), std::runtime_error);
}

TEST_F(ExecutionTest, RefusesAFolderThatHoldsSomethingElse) {
  touch("a file");
  try {
    Study::make(folder_.path(), small_request({"small"}));
    FAIL() << "accepted";
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("holds no study"), std::string::npos);
  }
  EXPECT_FALSE(fs::exists(folder_.path() + "/lock"));
}

TEST_F(ExecutionTest, RefusesAnotherRequestForAStudy) {
  make({"small"}, 2);
  make({"small"}, 2);
  try {
    make({"small"}, 3);
    FAIL() << "accepted";
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("seeds is 2 but 3"), std::string::npos);
  }
}

TEST(RunArguments, SayEverythingAboutARun) {
  Request request = small_request({"one_shot"});
  request.run_options = {{"epochs", "2"}, {"synthetic", ""}};
  const PlannedRun run = planned_runs(request, only_combination(), {})[0];
  std::string line;
  for (const std::string& word : run_arguments("s", request, run, 3)) line += word + " ";
  EXPECT_EQ(
      line,
      "quadratic_deep --optimizer momentum --set learning_rate=0.01 --set momentum=0.99 "
      "--set weight_decay=0.5 --schedule constant --seed 42 --epochs 2 --synthetic "
      "--threads 3 --preset none --out s/runs/quadratic_deep/momentum/constant/default/seed-42 "
      "--resume --tag sample=default ");
}

}  // namespace
}  // namespace flightdeck::study
