// SPDX-License-Identifier: MIT
#include "study/execution.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <ctime>
#include <optional>
#include <set>
#include <stdexcept>
#include <unistd.h>

#include "base/clock.h"
#include "study/child.h"
#include "study/lock.h"
#include "study/outcome.h"

namespace flightdeck::study {
namespace {

constexpr int kLogLines = 8;
constexpr double kAskAgainSeconds = 1;
const std::string kWell = "exit status 0";

std::vector<std::string> joined(std::vector<std::string> first,
                                const std::vector<std::string>& rest) {
  first.insert(first.end(), rest.begin(), rest.end());
  return first;
}

struct Child {
  pid_t process;
  size_t place;  // in the plan
  size_t slot;
  FileLock lock;
  Clock::time_point begin;
  std::optional<Clock::time_point> ended_well;  // by a launcher, without an outcome so far
};

class Worker {
 public:
  Worker(Study& study, const Execution& execution) : study_(study), execution_(execution) {
    progress_.most = most_runs(study.request());
  }

  Progress work() {
    while (true) {
      heed_interrupts();
      collect();
      take_up_new();
      if (signals_sent_ == 0) fill();
      tell();
      if (children_.empty() && (signals_sent_ > 0 || open_.empty())) return progress_;
      pause();
    }
  }

 private:
  void take_up_new() {
    for (; seen_ < study_.plan().size(); ++seen_) {
      if (is_wanted(seen_) && !study_.has_ended(study_.plan()[seen_])) open_.insert(seen_);
    }
  }

  bool is_wanted(size_t place) const {
    const auto& only = execution_.only;
    return !only || std::find(only->begin(), only->end(), place) != only->end();
  }

  // Starts runs, in the plan's order. Asks again after a while for those that others hold.
  void fill() {
    const bool asks_again = seconds_since(asked_again_) >= kAskAgainSeconds;
    if (asks_again) asked_again_ = Clock::now();
    for (auto place = open_.begin(); place != open_.end() && has_room();) {
      const bool asks = asks_again || elsewhere_.count(*place) == 0;
      if (asks && take(*place)) {
        place = open_.erase(place);
        take_up_new();
      } else {
        ++place;
      }
    }
  }

  // Returns false if another process has it.
  bool take(size_t place) {
    const PlannedRun run = study_.plan()[place];  // a copy: the plan may grow
    FileLock lock = FileLock::try_for(run_lock(study_.folder(), run));
    if (!lock.is_held()) {
      elsewhere_.insert(place);
      return false;
    }
    elsewhere_.erase(place);
    if (!study_.look_at(run)) start(place, run, std::move(lock));
    return true;
  }

  bool has_room() const { return children_.size() < static_cast<size_t>(execution_.jobs); }

  void start(size_t place, const PlannedRun& run, FileLock lock) {
    remove_damaged_outcome(run_folder(study_.folder(), run));
    const size_t slot = free_slot();
    std::vector<std::string> arguments =
        joined(execution_.runner,
               run_arguments(study_.folder(), study_.request(), run, execution_.threads));
    if (execution_.launcher) arguments = execution_.launcher->start_of(arguments, slot);
    const pid_t process = start_child(arguments, run_log(study_.folder(), run), [&lock] {
      lock.keep_beyond_exec();  // a run that outlives this process is still its only one
    });
    children_.push_back({process, place, slot, std::move(lock), Clock::now(), std::nullopt});
    execution_.on_event({RunEvent::Kind::kStarted, run, ""});
  }

  size_t free_slot() const {
    std::set<size_t> taken;
    for (const Child& child : children_) taken.insert(child.slot);
    size_t slot = 0;
    while (taken.count(slot) != 0) ++slot;
    return slot;
  }

  // Says how the child ended; nothing while it runs, or while its outcome may still come.
  std::optional<std::string> ending(Child& child) {
    if (!child.ended_well) {
      const std::optional<std::string> ending = ending_of(child.process);
      if (!ending || !execution_.launcher || *ending != kWell) return ending;
      child.ended_well = Clock::now();
    }
    const bool is_there = study_.look_at(study_.plan()[child.place]);
    const bool has_waited = seconds_since(*child.ended_well) >= execution_.outcome_patience_s;
    if (is_there || has_waited || signals_sent_ > 0) return kWell;
    return std::nullopt;
  }

  void collect() {
    for (size_t k = 0; k < children_.size();) {
      const std::optional<std::string> ending = this->ending(children_[k]);
      if (!ending) {
        ++k;
        continue;
      }
      const Child child = std::move(children_[k]);
      children_.erase(children_.begin() + static_cast<std::ptrdiff_t>(k));
      judge(child, *ending);
    }
  }

  void judge(const Child& child, const std::string& ending) {
    const PlannedRun run = study_.plan()[child.place];
    if (study_.look_at(run)) {
      ++timed_;
      seconds_ += seconds_since(child.begin);
      execution_.on_event({RunEvent::Kind::kEnded, run, ""});
    } else if (signals_sent_ == 0) {
      ++progress_.failed;
      const std::string log = run_log(study_.folder(), run);
      execution_.on_event(
          {RunEvent::Kind::kFailed, run, ending + "; " + log + ":\n" + last_lines(log, kLogLines)});
    }
  }

  void heed_interrupts() {
    const int wishes = std::min(execution_.interrupts(), 2);
    if (wishes <= signals_sent_) return;
    signals_sent_ = wishes;
    for (const Child& child : children_) {
      if (!child.ended_well) ::kill(child.process, wishes == 1 ? SIGTERM : SIGKILL);
    }
  }

  void tell() {
    progress_.ended = study_.scores().size();
    progress_.running = children_.size();
    progress_.elsewhere = elsewhere_.size();
    progress_.planned = study_.plan().size();
    if (timed_ > 0) {
      const size_t left = progress_.most - progress_.ended;
      progress_.seconds_left = seconds_ / double(timed_) * double(left) / execution_.jobs;
    }
    execution_.on_progress(progress_);
  }

  // Waits; a signal ends it early.
  static void pause() {
    const timespec time = {0, 20'000'000};
    ::nanosleep(&time, nullptr);
  }

  Study& study_;
  const Execution& execution_;
  Progress progress_;
  std::vector<Child> children_;
  std::set<size_t> open_, elsewhere_;  // places in the plan: to be started; held by others
  size_t seen_ = 0;                    // places of the plan that were looked at
  Clock::time_point asked_again_ = Clock::now();
  int signals_sent_ = 0;
  double seconds_ = 0;
  size_t timed_ = 0;
};

}  // namespace

Progress execute(Study& study, const Execution& execution) {
  return Worker(study, execution).work();
}

void become_run(const std::string& study,
                size_t place,
                const std::vector<std::string>& runner,
                int threads) {
  const std::vector<PlannedRun> plan = read_plan(study);
  if (place >= plan.size()) {
    throw std::runtime_error("study: run " + std::to_string(place) +
                             " is asked for but the plan of " + study + " has " +
                             std::to_string(plan.size()));
  }
  const PlannedRun& run = plan[place];
  const FileLock lock = FileLock::try_for(run_lock(study, run));
  const std::string folder = run_folder(study, run);
  if (!lock.is_held()) return;
  if (ended_outcome(folder)) return;
  remove_damaged_outcome(folder);
  lock.keep_beyond_exec();
  become(joined(runner, run_arguments(study, read_request(study), run, threads)),
         run_log(study, run));
}

}  // namespace flightdeck::study
