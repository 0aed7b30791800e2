// SPDX-License-Identifier: MIT
// Folders for runs, readings, and what is wrong with a record.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "flightdeck/record.h"

namespace flightdeck::tests {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A path in a folder of its own that is removed at the end. The run's folder itself is not made.
class RunFolder {
 public:
  RunFolder();
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string parent_, path_;
};

Reading number(const std::string& quantity,
               double value,
               const std::string& group = "",
               const std::string& field = "");
StepReadings step_of(int64_t step, std::vector<Reading> readings);
RunInfo full_info();
// Records make_step(0), make_step(1), ... and ends the run.
void record_steps(const std::string& folder, int64_t steps, Ending ending = Ending::kFinished);

// Names, times and contents of a folder's files: equal if nobody wrote.
std::string contents(const std::string& folder);

// Equal to the bit, NaN included.
bool equal(const Reading& a, const Reading& b);

// What is wrong with a record of make_step(0), make_step(1), ...: each must be there whole or not
// at all, without gaps, at least up to `last`. Empty if nothing is wrong.
std::string faults(const RunReader& reader, int64_t last);

// What is wrong with the stretches of a series of numbers, compared with its points one by one.
// Empty if nothing is wrong.
std::string stretch_faults(const RunReader& reader,
                           int64_t series,
                           const StepRange& range,
                           int64_t at_most);

// What is wrong with the frames of a series, compared with its readings.
std::string frame_faults(const RunReader& reader,
                         int64_t series,
                         const StepRange& range,
                         int64_t at_most);

// The message of what `call` throws; fails the running test if it throws nothing.
std::string message_of(const std::function<void()>& call);

// Options that collect warnings.
RecorderOptions collecting(std::vector<std::string>& warnings);

}  // namespace flightdeck::tests
