// SPDX-License-Identifier: MIT
#include "run/fault_bench.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <set>
#include <tuple>
#include <unistd.h>

#include <c10/util/Exception.h>

#include "base/order_statistics.h"
#include "run/trial_run.h"

namespace flightdeck::run {
namespace {

// How much of the tuned rate a moderately tuned run has.
constexpr double kModerateShare = 0.4;

double elapsed_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// A folder for one record after the other.
class Folders {
 public:
  explicit Folders(const std::string& kept) : is_kept_(!kept.empty()) {
    const std::filesystem::path place =
        is_kept_ ? std::filesystem::path(kept)
                 : std::filesystem::temp_directory_path() /
                       ("flightdeck-faultbench-" + std::to_string(getpid()));
    std::error_code error;
    std::filesystem::create_directories(place, error);
    TORCH_CHECK(!error,
                "faultbench: cannot make the folder ",
                place.string(),
                " (",
                error.message(),
                "); choose another one");
    place_ = place.string();
  }
  ~Folders() {
    std::error_code ignored;
    if (!is_kept_) std::filesystem::remove_all(place_, ignored);
  }
  Folders(const Folders&) = delete;
  Folders& operator=(const Folders&) = delete;

  std::string next(const FaultCase& one) {
    const std::string name = one.subject + "-" + (one.fault.empty() ? "healthy" : one.fault) + "-" +
                             std::to_string(++count_);
    return place_ + "/" + name;
  }
  void done(const std::string& folder) const {
    std::error_code ignored;
    if (!is_kept_) std::filesystem::remove_all(folder, ignored);
  }

 private:
  bool is_kept_;
  std::string place_;
  int64_t count_ = 0;
};

class Bench {
 public:
  explicit Bench(const FaultBenchOptions& options)
      : options_(options),
        folders_(options.folder),
        quantities_(options.quantities.empty() ? quantities_of_lamps() : options.quantities) {}

  FaultBenchResult run() {
    const std::vector<Fault> faults = options_.faults.empty() ? all_faults() : options_.faults;
    const std::vector<Subject> subjects = chosen_subjects();
    if (options_.has_healthy) {
      for (const Subject& subject : subjects) run_healthy(subject);
    }
    size_t turn = 0;
    for (const Fault& fault : faults) {
      int64_t tried = 0;
      for (size_t k = 0; k < subjects.size(); ++k) {
        // One that fits is enough for a quick look; another one for every fault.
        const Subject& subject = subjects[options_.quick ? (turn + k) % subjects.size() : k];
        if (options_.quick && tried > 0) break;
        tried += run_faulty(fault, subject);
      }
      ++turn;
    }
    return std::move(result_);
  }

 private:
  std::vector<Subject> chosen_subjects() const {
    if (!options_.subjects.empty()) return options_.subjects;
    std::vector<Subject> chosen;
    for (const Subject& subject : all_subjects()) {
      if (subject.split == options_.split) chosen.push_back(subject);
    }
    return chosen;
  }

  int64_t seeds() const { return options_.quick ? 1 : options_.seeds; }
  uint64_t seed(int64_t k) const {
    const uint64_t first =
        options_.first_seed > 0 ? options_.first_seed : (options_.split == Split::kTune ? 1 : 101);
    return first + static_cast<uint64_t>(k);
  }
  bool is_stop_wanted() const { return options_.is_stop_wanted && options_.is_stop_wanted(); }

  void run_healthy(const Subject& subject) {
    for (int64_t k = 0; k < seeds(); ++k) {
      for (const auto& [optimizer, rate] : subject.optimizers) {
        for (const double share : {1.0, kModerateShare}) {
          if (is_stop_wanted() || (options_.quick && share < 1)) continue;
          FaultCase one = case_of(subject, optimizer, seed(k));
          one.rate_share = share;
          Trial trial = subject.make(one.seed);
          trial.optimizer = optimizer;
          trial.hyperparameters["learning_rate"] = rate * share;
          finish(std::move(one), std::move(trial));
        }
      }
    }
  }

  // Runs that were tried.
  int64_t run_faulty(const Fault& fault, const Subject& subject) {
    int64_t tried = 0;
    for (int64_t k = 0; k < seeds(); ++k) {
      const auto& [optimizer, rate] = subject.optimizers[static_cast<size_t>(k) % 2];
      std::vector<double> severities = fault.severities;
      if (options_.quick) severities = {severities[severities.size() / 2]};
      for (const double severity : severities) {
        if (is_stop_wanted()) return tried;
        FaultCase one = case_of(subject, optimizer, seed(k));
        one.fault = fault.name;
        one.cause = fault.cause;
        one.also = fault.also;
        one.severity = severity;
        Trial trial = subject.make(one.seed);
        trial.optimizer = optimizer;
        trial.hyperparameters["learning_rate"] = rate;
        if (!fault.fits(trial)) continue;
        fault.inject(trial, severity);
        finish(std::move(one), std::move(trial));
        ++tried;
      }
    }
    return tried;
  }

  static FaultCase case_of(const Subject& subject, const std::string& optimizer, uint64_t seed) {
    FaultCase one;
    one.subject = subject.name;
    one.optimizer = optimizer;
    one.seed = seed;
    return one;
  }

  void finish(FaultCase one, Trial trial) {
    const auto begin = std::chrono::steady_clock::now();
    const std::string folder = folders_.next(one);
    TrialRun run(std::move(trial), folder, quantities_);
    // Doubling: how soon it is found is told to a factor of two.
    for (int64_t next = 5; !run.is_done(); next *= 2) {
      run.go_on(next);
      if (run.is_done()) break;
      look(run, folder, one);
    }
    run.end();
    look(run, folder, one);
    one.steps = run.steps_taken();
    std::tie(one.first_loss, one.last_loss) = run.losses();
    one.seconds = elapsed_since(begin);
    folders_.done(folder);
    options_.on_progress(one.subject + " " + one.optimizer + " " +
                         (one.fault.empty() ? "healthy" : one.fault) + ": " +
                         (one.causes.empty() ? to_string(one.verdict) : one.causes[0]));
    result_.cases.push_back(std::move(one));
  }

  static void look(const TrialRun& run, const std::string& folder, FaultCase& one) {
    const Diagnosis diagnosis = diagnose(RunReader(folder));
    one.verdict = diagnosis.verdict;
    one.health = diagnosis.health;
    one.causes.clear();
    one.lamps.clear();
    for (const RankedCause& cause : diagnosis.causes) {
      if (one.causes.size() < 3) one.causes.push_back(cause.name);
    }
    for (const Finding& finding : diagnosis.findings) one.lamps[finding.lamp] = finding.severity;
    if (one.is_healthy() || !one.is_first()) {
      one.found_at = -1;
    } else if (one.found_at < 0) {
      one.found_at = run.steps_taken();
    }
  }

  const FaultBenchOptions& options_;
  Folders folders_;
  std::vector<std::string> quantities_;
  FaultBenchResult result_;
};

template <typename Key>
std::map<std::string, FaultScore> scores_by(const std::vector<FaultCase>& cases, const Key& key) {
  std::map<std::string, std::vector<double>> found;
  std::map<std::string, FaultScore> scores;
  for (const FaultCase& one : cases) {
    if (one.is_healthy()) continue;
    scores[key(one)].add(one);
    if (one.found_at >= 0) found[key(one)].push_back(static_cast<double>(one.found_at));
  }
  for (auto& [name, values] : found) scores[name].median_found_at = median(values);
  return scores;
}

// What the diagnosis comes to in one word.
std::string word_of(const FaultCase& one) {
  if (one.verdict == Verdict::kFault && !one.causes.empty()) return one.causes[0];
  return to_string(one.verdict);
}

}  // namespace

// Something is said to be wrong, if only that its cause cannot be told from another.
bool FaultCase::is_detected() const { return health < kLeastConfidence; }

bool FaultCase::is_right(const std::string& name) const {
  return name == cause || std::find(also.begin(), also.end(), name) != also.end();
}

bool FaultCase::is_among_three() const {
  return is_detected() && std::any_of(causes.begin(), causes.end(), [&](const std::string& name) {
           return is_right(name);
         });
}

int64_t FaultCase::alarms() const {
  return std::count_if(lamps.begin(), lamps.end(), [](const auto& lamp) {
    return lamp.second != Severity::kAdvice;
  });
}

void FaultScore::add(const FaultCase& one) {
  ++runs;
  detected += one.is_detected();
  first += one.is_first();
  among_three += one.is_among_three();
}

FaultScore FaultBenchResult::total() const {
  const auto all = scores_by(cases, [](const FaultCase&) { return std::string("all"); });
  return all.empty() ? FaultScore() : all.begin()->second;
}

std::map<std::string, FaultScore> FaultBenchResult::by_fault() const {
  return scores_by(cases, [](const FaultCase& one) { return one.fault; });
}

std::map<std::string, FaultScore> FaultBenchResult::by_subject() const {
  return scores_by(cases, [](const FaultCase& one) { return one.subject; });
}

int64_t FaultBenchResult::healthy_runs() const {
  return std::count_if(
      cases.begin(), cases.end(), [](const auto& one) { return one.is_healthy(); });
}

int64_t FaultBenchResult::healthy_with_alarm() const {
  return std::count_if(cases.begin(), cases.end(), [](const auto& one) {
    return one.is_healthy() && one.alarms() > 0;
  });
}

int64_t FaultBenchResult::healthy_called_faulty() const {
  return std::count_if(cases.begin(), cases.end(), [](const auto& one) {
    return one.is_healthy() && one.is_detected();
  });
}

double FaultBenchResult::seconds() const {
  double sum = 0;
  for (const FaultCase& one : cases) sum += one.seconds;
  return sum;
}

std::map<std::string, std::map<std::string, int64_t>> FaultBenchResult::confusion() const {
  std::map<std::string, std::map<std::string, int64_t>> counts;
  for (const FaultCase& one : cases) {
    // What has the same remedy counts as the cause itself.
    const bool is_right = !one.is_healthy() && one.is_first();
    ++counts[one.is_healthy() ? "healthy" : one.cause][is_right ? one.cause : word_of(one)];
  }
  return counts;
}

std::map<std::string, std::map<std::string, double>> FaultBenchResult::lamp_rates() const {
  std::map<std::string, std::map<std::string, double>> rates;
  std::map<std::string, int64_t> runs;
  for (const FaultCase& one : cases) {
    ++runs[one.cause];
    for (const auto& [lamp, severity] : one.lamps) rates[one.cause][lamp] += 1;
  }
  for (auto& [cause, lamps] : rates) {
    for (auto& [lamp, count] : lamps) count /= static_cast<double>(runs[cause]);
  }
  return rates;
}

std::vector<std::string> quantities_of_lamps() {
  std::set<std::string> read = {"loss"};
  for (const Lamp& lamp : lamp_catalogue()) read.insert(lamp.reads.begin(), lamp.reads.end());
  std::vector<std::string> names;
  for (const Quantity& quantity : all_quantities()) {
    if (read.count(quantity.name()) != 0) names.push_back(quantity.name());
  }
  return names;
}

FaultBenchResult run_fault_bench(const FaultBenchOptions& options) {
  TORCH_CHECK_VALUE(options.seeds >= 1,
                    "faultbench: options.seeds is ",
                    options.seeds,
                    " but must be at least 1");
  return Bench(options).run();
}

}  // namespace flightdeck::run
