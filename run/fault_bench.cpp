// SPDX-License-Identifier: MIT
#include "run/fault_bench.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <set>
#include <tuple>
#include <unistd.h>

#include <c10/util/Exception.h>

#include "base/clock.h"
#include "run/change.h"
#include "run/faulty_run.h"

namespace flightdeck::run {
namespace {

// A moderately tuned run has this share of the tuned rate.
constexpr double kModerateShare = 0.4;
// The advice for one training is followed at most so often.
constexpr int64_t kMostRounds = 3;

// The folder of records and results; a temporary one if nobody named a place.
class Folder {
 public:
  explicit Folder(const std::string& given) : is_given_(!given.empty()) {
    const std::filesystem::path place =
        is_given_ ? std::filesystem::path(given)
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
    path_ = place.string();
  }
  ~Folder() {
    std::error_code ignored;
    if (!is_given_) std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string record_of(const FaultCase& one) const { return path_ + "/" + one.key(); }
  const std::string& path() const { return path_; }

 private:
  bool is_given_;
  std::string path_;
};

// A case before it is run.
struct Planned {
  FaultCase one;
  const Subject* subject = nullptr;
  const Fault* fault = nullptr;  // null: healthy
  double rate = 0;
};

// A change with the number that the advice named.
using Made = std::pair<const Change*, double>;

class Bench {
 public:
  explicit Bench(const FaultBenchOptions& options)
      : options_(options),
        folder_(options.folder),
        quantities_(options.quantities.empty() ? quantities_of_lamps() : options.quantities),
        faults_(options.faults.empty() ? all_faults() : options.faults),
        subjects_(chosen_subjects()),
        file_(options.folder.empty()
                  ? ""
                  : folder_.path() + "/cases-" + std::to_string(options.part) + ".jsonl") {}

  FaultBenchResult run() {
    const std::vector<Planned> all = plan();
    FaultBenchResult result;
    std::map<std::string, FaultCase> known;
    if (!options_.folder.empty()) {
      for (FaultCase& one : read_cases(folder_.path())) known[one.key()] = std::move(one);
    }
    int64_t done = 0;
    for (size_t k = 0; k < all.size(); ++k) {
      if (options_.is_stop_wanted && options_.is_stop_wanted()) break;
      if (static_cast<int64_t>(k) % options_.parts != options_.part) continue;
      std::optional<FaultCase> one = case_from(all[k], known);
      ++done;
      if (!one) continue;
      const std::string said = one->causes.empty() ? to_string(one->verdict) : one->causes[0];
      options_.on_progress(
          done, static_cast<int64_t>(all.size()) / options_.parts, one->key() + ": " + said);
      result.cases.push_back(std::move(*one));
    }
    return result;
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

  uint64_t seed(int64_t k) const {
    if (options_.first_seed > 0) return options_.first_seed + static_cast<uint64_t>(k);
    return static_cast<uint64_t>(100 * static_cast<int64_t>(options_.split) + 1 + k);
  }

  // Plans seed by seed, so that a bench that is ended early has whole ones.
  std::vector<Planned> plan() const {
    std::vector<Planned> all;
    for (int64_t k = 0; k < (options_.quick ? 1 : options_.seeds); ++k) {
      if (options_.has_healthy) {
        for (const Subject& subject : subjects_) plan_healthy(subject, k, all);
      }
      for (size_t turn = 0; turn < faults_.size(); ++turn) {
        for (size_t place = 0; place < subjects_.size(); ++place) {
          // A quick look takes one subject that fits, and begins at another one for every fault.
          const Subject& subject =
              subjects_[options_.quick ? (turn + place) % subjects_.size() : place];
          if (plan_faulty(faults_[turn], subject, k, all) && options_.quick) break;
        }
      }
    }
    return all;
  }

  void plan_healthy(const Subject& subject, int64_t k, std::vector<Planned>& all) const {
    for (const auto& [optimizer, rate] : subject.optimizers) {
      for (const double share : {1.0, kModerateShare}) {
        if (options_.quick && share < 1) continue;
        Planned planned = planned_of(subject, optimizer, rate * share, k);
        planned.one.rate_share = share;
        all.push_back(std::move(planned));
      }
    }
  }

  // Returns false if the fault does not fit the subject.
  bool plan_faulty(const Fault& fault,
                   const Subject& subject,
                   int64_t k,
                   std::vector<Planned>& all) const {
    const auto& [optimizer, rate] = subject.optimizers[static_cast<size_t>(k) % 2];
    std::vector<double> severities = fault.severities;
    if (options_.quick) severities = {severities[severities.size() / 2]};
    Planned planned = planned_of(subject, optimizer, rate, k);
    if (!fault.fits(begun(planned))) return false;
    planned.fault = &fault;
    planned.one.fault = fault.name;
    planned.one.cause = fault.cause;
    planned.one.also = fault.also;
    planned.one.is_of_degree = fault.is_of_degree;
    for (const double severity : severities) {
      planned.one.severity = severity;
      all.push_back(planned);
    }
    return true;
  }

  Planned planned_of(const Subject& subject,
                     const std::string& optimizer,
                     double rate,
                     int64_t k) const {
    Planned planned;
    planned.subject = &subject;
    planned.rate = rate;
    planned.one.subject = subject.name;
    planned.one.optimizer = optimizer;
    planned.one.seed = seed(k);
    return planned;
  }

  // Returns the training as it would be without a fault.
  FaultyTraining begun(const Planned& planned) const {
    FaultyTraining training = planned.subject->make(planned.one.seed);
    training.optimizer = planned.one.optimizer;
    training.hyperparameters["learning_rate"] = planned.rate;
    if (options_.steps > 0) training.steps = options_.steps;
    return training;
  }

  // Returns the training with its fault, and then with what was changed.
  FaultyTraining spoilt(const Planned& planned,
                        const std::vector<Made>& changes,
                        const FaultyTraining& source) const {
    FaultyTraining training = begun(planned);
    if (planned.fault) inject(*planned.fault, planned.one, training);
    for (const auto& [change, factor] : changes) change->apply(training, factor, source);
    return training;
  }

  static void inject(const Fault& fault, const FaultCase& one, FaultyTraining& training) {
    try {
      fault.inject(training, one.severity);
    } catch (const c10::Error& error) {
      TORCH_CHECK_VALUE(false,
                        "faultbench: ",
                        fault.name,
                        " cannot be injected into ",
                        one.subject,
                        " at severity ",
                        one.severity,
                        " (",
                        error.what_without_backtrace(),
                        "); give another one");
    }
  }

  // Returns the known case, a new run, or a new diagnosis; nothing if there is no record to
  // diagnose.
  std::optional<FaultCase> case_from(const Planned& planned,
                                     const std::map<std::string, FaultCase>& known) {
    const auto found = known.find(planned.one.key());
    const bool is_known = found != known.end();
    if (options_.only_diagnoses) {
      if (!is_known || !RunReader::is_run(folder_.record_of(planned.one))) return {};
      FaultCase one = found->second;
      one.is_of_degree = planned.one.is_of_degree;
      one.cause = planned.one.cause;
      one.also = planned.one.also;
      look(diagnose(RunReader(folder_.record_of(one))), one.steps, one);
      return one;
    }
    if (is_known &&
        (found->second.is_followed || !options_.follows || !is_to_follow(found->second))) {
      return found->second;
    }
    FaultCase one = run_case(planned);
    file_.add(one);
    return one;
  }

  bool is_to_follow(const FaultCase& one) const {
    return options_.follows && one.is_scored() && one.is_harmed();
  }

  FaultCase run_case(const Planned& planned) {
    const auto begin = Clock::now();
    FaultCase one = planned.one;
    const std::string record = folder_.record_of(one);
    std::error_code ignored;
    std::filesystem::remove_all(record, ignored);  // of a bench that was killed
    const FaultyTraining source = begun(planned);
    one.chance = 1 / static_cast<double>(source.classes);
    const Diagnosis diagnosis = train(planned, {}, source, record, one);
    if (one.is_healthy() && one.rate_share == 1) one.plain_seconds = plain_seconds(planned);
    one.healthy_accuracy =
        one.is_healthy() && one.rate_share == 1 ? one.accuracy : healthy_accuracy(planned);
    if (!options_.keeps_records) std::filesystem::remove_all(record, ignored);
    one.seconds = seconds_since(begin);
    if (is_to_follow(one)) follow(planned, source, diagnosis, one);
    return one;
  }

  // Trains under a cockpit and diagnoses on the way and at the end.
  Diagnosis train(const Planned& planned,
                  const std::vector<Made>& changes,
                  const FaultyTraining& source,
                  const std::string& record,
                  FaultCase& one) const {
    FaultyRun run(spoilt(planned, changes, source), record, quantities_, options_.due);
    // Steps double between diagnoses, so the step of the first right one is known to a factor of
    // two.
    for (int64_t next = 5; !run.is_done(); next *= 2) {
      const auto begin = Clock::now();
      run.go_on(next);
      one.watched_seconds += seconds_since(begin);
      if (!run.is_done()) look(diagnose(RunReader(record)), run.steps_taken(), one);
    }
    run.end();
    one.steps = run.steps_taken();
    std::tie(one.first_loss, one.last_loss) = run.losses();
    one.accuracy = run.accuracy();
    Diagnosis diagnosis = diagnose(RunReader(record));
    look(diagnosis, one.steps, one);
    return diagnosis;
  }

  // Measures how long the training takes where nothing watches.
  double plain_seconds(const Planned& planned) const {
    FaultyRun run(begun(planned), "", {});
    const auto begin = Clock::now();
    while (!run.is_done()) run.go_on(run.steps_taken() + 1000);
    return seconds_since(begin);
  }

  // Returns how well the healthy training of the same seed and optimizer ends.
  double healthy_accuracy(const Planned& planned) {
    Planned healthy = planned;
    healthy.fault = nullptr;
    for (const auto& [optimizer, rate] : planned.subject->optimizers) {
      if (optimizer == planned.one.optimizer) healthy.rate = rate;
    }
    const std::string key =
        planned.one.subject + planned.one.optimizer + std::to_string(planned.one.seed);
    const auto [place, is_new] = healthy_.emplace(key, 0);
    if (is_new) {
      FaultyRun run(begun(healthy), "", {});
      while (!run.is_done()) run.go_on(run.steps_taken() + 1000);
      place->second = run.accuracy();
    }
    return place->second;
  }

  // Changes what the first cause names, trains again, and so on.
  void follow(const Planned& planned,
              const FaultyTraining& source,
              Diagnosis diagnosis,
              FaultCase& one) const {
    one.is_followed = true;
    one.followed.accuracy = one.followed.first_accuracy = one.accuracy;
    std::vector<Made> changes;
    const std::string record = folder_.record_of(one) + "-followed";
    while (one.followed.rounds < kMostRounds && diagnosis.health < kLeastConfidence &&
           !diagnosis.causes.empty()) {
      const RankedCause& cause = diagnosis.causes.front();
      for (const std::string& name : cause.changes) {
        const Change* change = find_change(name);
        if (!change) continue;
        changes.emplace_back(change, cause.factor);
        one.followed.changes.push_back(text_of(changes.back()));
        one.followed.is_by_hand = one.followed.is_by_hand || change->is_by_hand;
      }
      FaultCase again = planned.one;
      std::error_code ignored;
      std::filesystem::remove_all(record, ignored);
      diagnosis = train(planned, changes, source, record, again);
      std::filesystem::remove_all(record, ignored);
      one.followed.accuracy = again.accuracy;
      if (++one.followed.rounds == 1) one.followed.first_accuracy = again.accuracy;
      if (one.is_as_good(again.accuracy)) return;
    }
  }

  static std::string text_of(const Made& made) {
    if (!(made.second > 0)) return made.first->name;
    char text[32];
    std::snprintf(text, sizeof text, " %.3g", made.second);
    return made.first->name + text;
  }

  static void look(const Diagnosis& diagnosis, int64_t steps, FaultCase& one) {
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
      one.found_at = steps;
    }
  }

  const FaultBenchOptions& options_;
  Folder folder_;
  std::vector<std::string> quantities_;
  std::vector<Fault> faults_;
  std::vector<Subject> subjects_;
  CaseFile file_;
  std::map<std::string, double> healthy_;
};

}  // namespace

std::vector<std::string> quantities_of_lamps() {
  std::set<std::string> read = {"loss"};
  for (const Lamp& lamp : lamp_catalogue()) {
    if (lamp.is_evidence || lamp.is_exact) read.insert(lamp.reads.begin(), lamp.reads.end());
  }
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
  TORCH_CHECK_VALUE(options.parts >= 1 && options.part >= 0 && options.part < options.parts,
                    "faultbench: options.part is ",
                    options.part,
                    " of options.parts ",
                    options.parts,
                    "; count the parts from 0");
  TORCH_CHECK_VALUE(!options.only_diagnoses || !options.folder.empty(),
                    "faultbench: options.only_diagnoses needs options.folder; name the folder that "
                    "a bench has kept its records in");
  return Bench(options).run();
}

}  // namespace flightdeck::run
