// SPDX-License-Identifier: MIT
// Diagnosis: what the lamps of a run, lit and dark, say together about its cause. Causes live in
// src/lamps/causes, one file each; a program may add its own. Free of LibTorch.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "flightdeck/lamp.h"

namespace flightdeck {

/// Something that may be wrong with a training, and how often it lights which lamps.
struct Cause {
  std::string name;      ///< of the file, too: "learning_rate_too_high"
  std::string sentence;  ///< what is wrong, without a full stop: "The learning rate is too high"
  std::string remedy;    ///< what to change, where no finding says it with values
  /// How usual it is beside the others; only ratios count.
  double weight = 1;
  /// What the remedy changes, in words that programs know: "learning_rate", "loss", "shuffling".
  /// FaultBench has a function for each (run/change.h).
  std::vector<std::string> changes;
  /// What the first of them is to be multiplied by where no finding measured it; 0: it is no
  /// number. Findings that name the other direction are not listened to.
  double factor = 0;
  /// Lamps with the share of runs with this cause that light them. A lamp that is not named is lit
  /// as often as in healthy runs.
  std::vector<std::pair<std::string, double>> lights;
  /// Where it is described: a page of the documents with an anchor, or an address; empty: nowhere.
  std::string page;
};

/// All causes by name, those that were registered among them.
std::vector<Cause> cause_catalogue();

/// Adds a cause to the catalogue of this program. Throws std::invalid_argument if the name is
/// taken, saying what both are, if it has no name, sentence or lamp, and if a share is not between
/// 0 and 1. Safe to call from any thread. Always true.
bool register_cause(Cause cause);

/// One lamp, as evidence for or against one cause.
struct Evidence {
  std::string lamp;
  bool is_lit = false;
  /// log of how much more often this is seen with the cause than in healthy runs: above 0 speaks
  /// for the cause.
  double weight = 0;
  std::string title;     ///< the symptom; of a dark lamp what it would have been lit by
  std::string text;      ///< what the lamp found, or what it would have been lit by
  std::string quantity;  ///< what was read
  int64_t step = -1;     ///< where it was found; -1 if dark
  /// As those of the finding; empty: the whole model.
  std::vector<std::string> layers;
  /// Samples that the quantity lists at the step: places in the data set where the loop told them,
  /// else positions in the batch.
  std::vector<int64_t> samples;
  bool samples_are_positions = false;
  /// Series of numbers that show it, by their ids in the record, and what they are compared with.
  std::vector<int64_t> series;
  std::vector<double> limits;
};

struct RankedCause {
  std::string name, sentence;
  std::string advice;                ///< with the values of the findings where they have some
  double probability = 0;            ///< of all causes and of health
  std::vector<std::string> changes;  ///< of the cause
  double factor = 0;       ///< what the first of them is to be multiplied by; 0: it is no number
  double rate_factor = 0;  ///< the same if it is the learning rate; 0: it is not
  int64_t step = -1;       ///< of the first finding that speaks for it
  std::string page;        ///< of the cause, "docs/causes.md#softmax_twice"; empty: none
  std::vector<Evidence> speaks_for, speaks_against;  ///< the strongest first
};

enum class Verdict {
  kHealthy,     ///< "healthy so far"
  kFault,       ///< a cause is named
  kCannotTell,  ///< too little is tracked, or causes cannot be told apart
};
const char* to_string(Verdict verdict);  ///< "healthy", "fault" or "cannot_tell"

/// Below this probability no cause is claimed.
constexpr double kLeastConfidence = 0.5;

struct Diagnosis {
  Verdict verdict = Verdict::kCannotTell;
  std::string sentence;             ///< the one that stands on top
  double confidence = 0;            ///< probability of what the sentence says
  double health = 0;                ///< probability that nothing is wrong
  std::vector<RankedCause> causes;  ///< the likeliest first, those below 1 % left out
  std::vector<Finding> findings;    ///< all that lamps found, as `findings_in` sorts them
  /// Quantities that are not tracked, whose lamps would tell most; the most telling first.
  std::vector<std::string> track;
};

/// Ranks the causes by what the lamps found: the weight of each cause times, for every lamp that
/// could have been lit with what is tracked, the share of such runs that light it, or do not.
/// Throws where the record cannot be read.
[[nodiscard]] Diagnosis diagnose(const RunReader& run);

}  // namespace flightdeck
