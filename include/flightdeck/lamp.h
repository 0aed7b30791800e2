// SPDX-License-Identifier: MIT
// Lamps: checks of a recorded run that light up where something should not be missed. Entries live
// in src/lamps/catalogue, one file each; a program may add its own. Free of LibTorch.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "flightdeck/record.h"

namespace flightdeck {

enum class Severity { kAdvice, kWarning, kFailure };
const char* to_string(Severity severity);  ///< "advice", "warning" or "failure"

/// What a lit lamp says. The texts are sentences without a full stop at their end.
struct Finding {
  int64_t step = -1;     ///< where it shows; -1 before the first values
  std::string quantity;  ///< or several ("alpha, norm_test"); empty if none in particular
  std::string symptom;   ///< a title: "The loss is no longer finite"
  std::string evidence;  ///< what the record says: "loss is NaN at step 20"
  std::string cause;     ///< the likely one; empty: not known
  std::string advice;    ///< what to do; empty: nothing
  /// What the learning rate is to be multiplied by, where that is the advice; 0: it is not.
  double rate_factor = 0;
  /// The same of another number that the advice names: batch size, steps, weight decay, dropout.
  double factor = 0;
  /// Layers, modules or parameters that it is about, as fields or groups of the quantity name them;
  /// empty: the whole model.
  std::vector<std::string> layers;
  /// Name, severity and page of the lamp that found it, as `findings_in` fills in.
  std::string lamp;
  Severity severity = Severity::kAdvice;
  std::string page;

  /// "evidence: cause. advice", without what is empty.
  std::string text() const;
};

/// What a lamp looks at. Summary, notes and series are read once for all lamps.
struct LampView {
  explicit LampView(const RunReader& reader)
      : run(reader), summary(reader.summary()), notes(reader.notes()), series(reader.series()) {}

  const RunReader& run;
  RunSummary summary;
  std::vector<Note> notes;
  std::vector<SeriesInfo> series;

  /// As `RunReader::find`, without reading; null if there is none.
  const SeriesInfo* find(const std::string& quantity,
                         const std::string& group = "",
                         const std::string& field = "") const;
};

/// A number of the whole model that shows what a lamp judges, for a picture beside its evidence.
struct Pictured {
  std::string quantity;
  std::string field;           ///< empty: the main value
  std::vector<double> limits;  ///< what its values are compared with; empty: nothing fixed
};

struct Lamp {
  std::string name;     ///< of the file, too
  std::string summary;  ///< what it is lit by, in one line
  Severity severity = Severity::kWarning;
  /// What it needs: names of quantities whose series it reads, "notes", "status".
  std::vector<std::string> reads;
  /// What a picture of its evidence shows. Of a finding about layers it shows theirs instead.
  std::vector<Pictured> pictured;
  /// How many values of a quantity that it reads it waits for. With fewer its darkness says
  /// nothing; with 0 it always speaks.
  int64_t waits_for = 1;
  /// Share of healthy runs that light it, as FaultBench counts them.
  double false_alarms = 0.02;
  /// True: it states a fact of the graph, the data or the loop, in which it cannot err but by a
  /// mistake of ours. Its false alarms are far below what can be counted.
  bool is_exact = false;
  /// False: it speaks of the watching (a quantity switched off, a disk that failed) or of a
  /// training that has come to its end, and is no evidence for a cause.
  bool is_evidence = true;
  /// Where it is described: a page of the documents with an anchor, or an address; empty: nowhere.
  std::string page;
  /// Empty where there is nothing to say. Called from any thread, also while the run goes on.
  std::function<std::vector<Finding>(const LampView&)> look;
};

/// All lamps by name, those that were registered among them.
std::vector<Lamp> lamp_catalogue();

/// Adds a lamp to the catalogue of this program. Throws std::invalid_argument if the name is taken,
/// saying what both are, and if the lamp has no name, no summary or no `look`. Safe to call from
/// any thread. Always true, so that a constant outside of functions can hold the call.
bool register_lamp(Lamp lamp);

/// True if `wanted` names the lamp, or a severity that is its own or a lesser one: "warning" wants
/// failures too.
bool is_wanted(const std::string& lamp, Severity severity, const std::vector<std::string>& wanted);

/// Throws std::invalid_argument, with `what` as the beginning of its text, if one of `wanted` is
/// neither a lamp of the catalogue nor a severity.
void check_wanted(const std::string& what, const std::vector<std::string>& wanted);

/// Names of the lamps that speak of the training and that can be lit where these quantities are
/// tracked.
std::vector<std::string> lamps_lit_by(const std::vector<std::string>& quantities);

/// What all lamps find in a run: the gravest first, of equals the earliest. A lamp that throws
/// becomes a finding itself. Throws where the record cannot be read.
[[nodiscard]] std::vector<Finding> findings_in(const RunReader& run);

/// The same of the lamps that `wanted` names, by name or by severity; the others do not look.
[[nodiscard]] std::vector<Finding> findings_in(const RunReader& run,
                                               const std::vector<std::string>& wanted);

}  // namespace flightdeck
