// SPDX-License-Identifier: MIT
// The durable record of a run: one folder, written by one process and read by any number. The
// format is in docs/wire_format.md. Free of LibTorch.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "flightdeck/reading.h"

namespace flightdeck {

// ---- writing ------------------------------------------------------------------------------------

struct RecorderOptions {
  /// Steps that may wait for the writer thread; then the training waits, and that is counted.
  int64_t queue_steps = 256;
  /// Size from which the journal goes on in another file, so that the stored part can be removed.
  int64_t journal_bytes = int64_t{16} << 20;
  std::function<void(const std::string&)> on_warning;  ///< default: stderr
  /// Goes on with the folder's run at this step, if it holds one: what was recorded for this step
  /// and later, and how the run ended, is forgotten first.
  std::optional<int64_t> resume_at;
};

/// Counts of one recorder, for people and tests.
struct RecorderStatistics {
  int64_t written = 0;  ///< calls of write that are safe in the folder
  int64_t waits = 0;    ///< calls that had to wait for room in the queue
  double wait_seconds = 0;
  int64_t not_stored = 0;  ///< calls whose values were lost to a failing disk
};

/// Writes a run. What `write` was given is safe from the death of the process when it returns.
/// A disk that fails is reported once; training goes on and the record says what is missing.
class Recorder : public Sink {
 public:
  /// Makes the folder. Throws if it already holds a run and is not told to resume it, or if another
  /// recorder has it; a folder that cannot be made or written is
  /// a warning, and nothing is stored.
  explicit Recorder(const std::string& folder, RecorderOptions options = {});
  ~Recorder() override;

  void begin(const RunInfo& info) override;
  void write(const StepReadings& step) override;
  void note(const Note& note) override;
  void finish(Ending ending) override;

  RecorderStatistics statistics() const;

  class State;

 private:
  std::unique_ptr<State> state_;
};

// ---- reading ------------------------------------------------------------------------------------

struct SeriesInfo {
  int64_t id = 0;
  std::string quantity, field, group;
  ReadingKind kind = ReadingKind::kNumber;
  int64_t count = 0;  ///< of steps
  int64_t first_step = 0, last_step = 0;
};

struct NumberPoint {
  int64_t step = 0;
  double time = 0;
  double value = 0;
};

/// Consecutive points of a series of numbers, reduced to what a chart shows of them.
struct NumberStretch {
  int64_t first_step = 0, last_step = 0;
  int64_t count = 0;           ///< of points, those that are not a number among them
  int64_t not_a_number = 0;    ///< of points
  double first = 0, last = 0;  ///< values at the ends
  double min = 0, max = 0;     ///< NaN if no point is a number; infinities count
  /// Where the extremes are, the first of equals; first_step if there are none.
  int64_t min_step = 0, max_step = 0;
};

/// The last point of a series of numbers.
struct LastNumber {
  SeriesInfo series;
  NumberPoint point;
};

/// What a list of runs shows of one.
struct RunSummary {
  RunInfo info;
  RunStatus status = RunStatus::kRunning;
  int64_t last_step = -1;
  double last_time = 0;
  std::vector<LastNumber> numbers;
};

struct StepRange {
  int64_t first = std::numeric_limits<int64_t>::min();
  int64_t last = std::numeric_limits<int64_t>::max();
};

struct ReadOptions {
  /// A call that goes on for so long without a result throws: no file can keep a reader for ever.
  double patience_s = 60;
  std::shared_ptr<const std::atomic<bool>> stop;  ///< set by anybody: calls throw at once
};

/// Reads a run, finished, running or killed; never writes into its folder. Each call sees whole
/// calls of `Recorder::write`, never parts of one. Any number of threads may use one reader at the
/// same time. A call opens the database and costs for that alone what a few hundred points do; of a
/// run that grows, it reads of the journal what is new. The folder may come from anywhere: what no
/// recorder writes is refused by an exception, within the limits of docs/wire_format.md.
class RunReader {
 public:
  /// Throws if the folder holds no run, or one of a newer format.
  explicit RunReader(const std::string& folder, ReadOptions options = {});
  ~RunReader();
  RunReader(RunReader&&) noexcept;

  /// True if the folder holds a run.
  static bool is_run(const std::string& folder);
  /// A text that differs after anything was recorded, begun, ended or labelled in the folder; empty
  /// if it holds no run. Looks at names, sizes and times of its files and at the lock only.
  static std::string fingerprint(const std::string& folder);

  RunInfo info() const;
  RunStatus status() const;
  /// All of the above and below that a list of runs needs, as of one moment, at the price of one
  /// call.
  RunSummary summary() const;
  double last_time() const;   ///< when the last values came; 0 before the first
  int64_t last_step() const;  ///< -1 before the first
  std::vector<SeriesInfo> series() const;
  /// Null if there is none.
  std::unique_ptr<SeriesInfo> find(const std::string& quantity,
                                   const std::string& group = "",
                                   const std::string& field = "") const;
  /// The first `at_most` of the range.
  std::vector<NumberPoint> numbers(int64_t series,
                                   const StepRange& range = {},
                                   int64_t at_most = std::numeric_limits<int64_t>::max()) const;
  /// At most `at_most` (>= 1) stretches that together are all points of the range, in order; one a
  /// point if there are no more. No extreme is lost, and a million points cost what a few thousand
  /// do. Series of other kinds have points without values: NaN, not counted as `not_a_number`.
  std::vector<NumberStretch> stretches(int64_t series,
                                       const StepRange& range,
                                       int64_t at_most) const;
  /// The last values of all series of numbers of the whole model (group "").
  std::vector<LastNumber> last_numbers() const;
  /// At most `at_most` (>= 1) readings spread evenly over those of the range, the last one always
  /// among them. Throws before they have more than `most_numbers` in lists and histograms.
  std::vector<std::pair<int64_t, Reading>> frames(int64_t series,
                                                  const StepRange& range,
                                                  int64_t at_most,
                                                  int64_t most_numbers = int64_t{1} << 27) const;
  /// Readings of any kind of one series, by step; 2^27 numbers at most.
  std::vector<std::pair<int64_t, Reading>> readings(int64_t series,
                                                    const StepRange& range = {}) const;
  /// Calls `visit` for every reading of every step, steps ascending.
  void for_each_step(const std::function<void(const StepReadings&)>& visit,
                     const StepRange& range = {}) const;
  std::vector<Note> notes() const;

  class State;

 private:
  std::unique_ptr<State> state_;
};

// ---- exporting ----------------------------------------------------------------------------------

/// One JSON object per step: {"step": 3, "time": ..., "values": [{"quantity": ..., ...}, ...]}.
/// Numbers that JSON lacks (NaN, infinities) are the strings "NaN", "Infinity", "-Infinity".
void export_json_lines(const RunReader& run, std::ostream& out);
/// Numbers only: one line per step, one column per series "quantity[/field][@group]".
void export_csv(const RunReader& run, std::ostream& out);
/// A TensorBoard event file in `folder`: numbers as scalars, histograms of one axis as histograms.
/// Returns its path.
std::string export_tensorboard(const RunReader& run, const std::string& folder);

}  // namespace flightdeck
