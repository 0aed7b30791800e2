// SPDX-License-Identifier: MIT
// What a cockpit hands on: plain values, free of tensors, and the interface of whatever takes them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "flightdeck/ending.h"

namespace flightdeck {

enum class ReadingKind { kNumber, kList, kHistogram };
const char* to_string(ReadingKind kind);  ///< "number", "list" or "histogram"

/// One axis of a histogram: `count` bins of equal width over [low, high].
struct ReadingAxis {
  double low = 0, high = 0;
  int64_t count = 0;
};

/// One value of one quantity at one step.
struct Reading {
  std::string quantity;
  std::string field;  ///< empty for the quantity's main value; "iterations", "residual", ...
  std::string group;  ///< empty for the whole model
  ReadingKind kind = ReadingKind::kNumber;
  double number = 0;         ///< kNumber; NaN and infinities are values
  std::vector<double> list;  ///< kList
  // kHistogram: one axis, or two (gradients, parameters; counts row by row).
  std::vector<ReadingAxis> axes;
  std::vector<int64_t> counts;
  int64_t below = 0, above = 0, not_a_number = 0;  ///< entries outside the range (first axis)
};

/// Values of one step that became known together. A step may get further ones later (the update is
/// known only at the next step).
struct StepReadings {
  int64_t step = 0;
  double time = 0;  ///< seconds since 1970 when the values were complete
  std::vector<Reading> readings;
};

enum class NoteKind {
  kRemark,       ///< something a person should know
  kSwitchedOff,  ///< quantities ("a, b") failed and are off from here on
  kNotStored,    ///< steps that could not be stored
};
const char* to_string(NoteKind kind);  ///< "remark", "switched_off" or "not_stored"

struct Note {
  int64_t step = 0;
  double time = 0;
  NoteKind kind = NoteKind::kRemark;
  std::string quantity;  ///< or several ("norm_test, inner_test"); empty if none in particular
  std::string text;
};

struct ParameterInfo {
  std::string name;
  std::vector<int64_t> shape;
  std::string type;  ///< "float32"
};

struct QuantityInfo {
  std::string name;
  std::string summary;
  std::string due;
  std::string settings;
  std::string cost;
};

/// What a run is: told before the first values, and again when more is known of it (groups and
/// coverage, after the first watched step).
struct RunInfo {
  double start_time = 0;
  std::string flightdeck_version, libtorch_version, host, command, device, grouping;
  std::vector<ParameterInfo> parameters;
  std::vector<std::string> groups;  ///< without the whole model
  std::vector<QuantityInfo> quantities;
  std::map<std::string, std::string> config;  ///< what the user added: problem, optimizer, seed
  std::string plan;                           ///< what is computed when, for people
  std::string coverage;                       ///< how individual gradients are obtained, for people
};

/// Takes what a cockpit measures, of one run: give each cockpit a sink of its own. Calls come one
/// at a time, from the threads that call the cockpit; the cockpit holds the sink until the run ends
/// or the sink throws: then it is dropped with a warning, and training goes on.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void begin(const RunInfo& info) = 0;
  virtual void write(const StepReadings& step) = 0;
  virtual void note(const Note& note) = 0;
  virtual void finish(Ending ending) = 0;
};

/// Keeps everything in memory: for tests and notebooks. Refuses the values of a second run.
class MemorySink : public Sink {
 public:
  void begin(const RunInfo& info) override;
  void write(const StepReadings& step) override;
  void note(const Note& note) override { notes_.push_back(note); }
  void finish(Ending ending) override { ending_ = ending; }

  const RunInfo& info() const { return info_; }
  const std::vector<Note>& notes() const { return notes_; }
  /// Empty while the run goes on.
  std::optional<Ending> ending() const { return ending_; }
  const std::map<int64_t, std::vector<Reading>>& steps() const { return steps_; }

  /// Null if there is no such reading.
  const Reading* find(int64_t step,
                      const std::string& quantity,
                      const std::string& group = "",
                      const std::string& field = "") const;
  /// Throws, naming what is there, if there is no such number.
  double number(int64_t step,
                const std::string& quantity,
                const std::string& group = "",
                const std::string& field = "") const;

 private:
  RunInfo info_;
  std::vector<Note> notes_;
  std::optional<Ending> ending_;
  std::map<int64_t, std::vector<Reading>> steps_;
};

}  // namespace flightdeck
