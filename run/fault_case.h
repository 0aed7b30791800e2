// SPDX-License-Identifier: MIT
// One run of FaultBench with its diagnosis, counts over such runs, and their file.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "flightdeck/diagnosis.h"

namespace flightdeck::run {

/// What became of a faulty training whose advice was followed.
struct FollowedAdvice {
  int64_t rounds = 0;                ///< diagnoses that were followed; 0: none named a change
  std::vector<std::string> changes;  ///< "learning_rate 0.02", in order
  bool is_by_hand = false;           ///< one of them only a person can make
  double accuracy = 0;               ///< on held-out samples, at the end
  double first_accuracy = 0;         ///< after the first round
};

/// One run and its diagnosis.
struct FaultCase {
  std::string subject, optimizer, fault;  ///< fault: empty if healthy
  std::string cause;                      ///< what would be right; empty if healthy
  std::vector<std::string> also;          ///< as right
  bool is_of_degree = false;              ///< counts only where it harms
  double severity = 0;
  double rate_share = 1;  ///< of the tuned rate, of healthy runs
  uint64_t seed = 0;
  Verdict verdict = Verdict::kCannotTell;
  double health = 1;                      ///< as the diagnosis has it
  std::vector<std::string> causes;        ///< the likeliest first, three at most
  std::map<std::string, Severity> lamps;  ///< that are lit
  int64_t found_at = -1;                  ///< steps taken when the right cause was first
  int64_t steps = 0;                      ///< taken
  double first_loss = 0, last_loss = 0;   ///< medians of the first and last tenth
  double chance = 0;                      ///< accuracy of equal odds
  double accuracy = 0;                    ///< on held-out samples, at the end
  double healthy_accuracy = 0;            ///< of the healthy run of the same seed and optimizer
  double seconds = 0;                     ///< of training, watching and diagnosing
  double watched_seconds = 0;             ///< of these, of training under the cockpit
  double plain_seconds = 0;  ///< of the same training without a cockpit; 0: it was not trained
  bool is_followed = false;
  FollowedAdvice followed;

  bool is_healthy() const { return fault.empty(); }
  bool is_detected() const;
  bool is_right(const std::string& name) const;
  bool is_first() const { return !causes.empty() && is_detected() && is_right(causes[0]); }
  bool is_among_three() const;
  int64_t alarms() const;  ///< lamps that are lit with severity warning or failure
  /// Returns the share that this run learned of what the healthy run did: 1 is as good, 0 is
  /// chance.
  double learned() const { return learned(accuracy); }
  double learned(double reached) const;
  bool is_harmed() const { return !is_as_good(accuracy); }
  bool is_as_good(double reached) const;
  /// Returns whether the run has a fault that counts: one that is a matter of degree must have done
  /// harm.
  bool is_scored() const { return !is_healthy() && (!is_of_degree || is_harmed()); }
  bool is_mended() const { return is_followed && is_as_good(followed.accuracy); }
  bool is_mended_at_once() const { return is_followed && is_as_good(followed.first_accuracy); }
  /// Returns a name that tells it from all others of a bench; part of a file name.
  std::string key() const;
};

/// An end counts as good from this share of the healthy run's learning on.
constexpr double kAsGood = 0.9;

/// Counts over cases.
struct FaultScore {
  int64_t runs = 0, detected = 0, first = 0, among_three = 0;
  int64_t harmless = 0;  ///< left out: matters of degree that did no harm
  /// Runs that were harmed and whose advice was followed; of these the mended ones, those mended at
  /// once, and those mended without the help of a person.
  int64_t followed = 0, mended = 0, mended_at_once = 0, mended_alone = 0;
  double median_found_at = -1;  ///< of those where the cause was first

  void add(const FaultCase& one);
};

struct FaultBenchResult {
  std::vector<FaultCase> cases;

  FaultScore total() const;
  std::map<std::string, FaultScore> by_fault() const;
  std::map<std::string, FaultScore> by_subject() const;
  int64_t healthy_runs() const;
  int64_t healthy_with_alarm() const;     ///< with a lamp of severity warning or more
  int64_t healthy_called_faulty() const;  ///< by the diagnosis
  double seconds() const;
  /// Returns how many times as long healthy trainings take under the cockpit, the median; NaN: not
  /// measured.
  double watching_cost() const;
  /// Counts runs by true cause and by the first cause that was named ("healthy" and "cannot_tell"
  /// too).
  std::map<std::string, std::map<std::string, int64_t>> confusion() const;
  /// Returns the share of the runs with a cause that light a lamp; "" are the healthy ones.
  std::map<std::string, std::map<std::string, double>> lamp_rates() const;
};

/// Writes one line of JSON, without its end.
std::string line_of(const FaultCase& one);

/// Reads all cases of the files cases-*.jsonl of a folder; of those with the same key the last
/// counts. Leaves out lines that are none, such as one that a killed process had begun. Throws
/// c10::Error if the folder cannot be read.
std::vector<FaultCase> read_cases(const std::string& folder);

/// Appends cases to a file. Each is written whole or not at all, unless the process is killed.
class CaseFile {
 public:
  /// Writes nothing if the path is empty. Throws c10::Error if it cannot be written.
  explicit CaseFile(std::string path);
  void add(const FaultCase& one) const;

 private:
  std::string path_;
};

}  // namespace flightdeck::run
