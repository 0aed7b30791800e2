// SPDX-License-Identifier: MIT
// Stands in for the recorder and the reader in a build without SQLite.
#include <stdexcept>

#include "flightdeck/record.h"

namespace flightdeck {

namespace {

[[noreturn]] void refuse(const std::string& folder) {
  throw std::runtime_error("record: '" + folder +
                           "' needs SQLite, which this build lacks; install libsqlite3-dev and "
                           "build again");
}

}  // namespace

class Recorder::State {};
Recorder::Recorder(const std::string& folder, RecorderOptions) { refuse(folder); }
Recorder::~Recorder() = default;
void Recorder::begin(const RunInfo&) {}
void Recorder::write(const StepReadings&) {}
void Recorder::note(const Note&) {}
void Recorder::finish(Ending) {}
RecorderStatistics Recorder::statistics() const { return {}; }

class RunReader::State {};
RunReader::RunReader(const std::string& folder, ReadOptions) { refuse(folder); }
RunReader::~RunReader() = default;
RunReader::RunReader(RunReader&&) noexcept = default;
bool RunReader::is_run(const std::string&) { return false; }
std::string RunReader::fingerprint(const std::string&) { return {}; }
RunInfo RunReader::info() const { return {}; }
RunSummary RunReader::summary() const { return {}; }
RunStatus RunReader::status() const { return {}; }
double RunReader::last_time() const { return 0; }
int64_t RunReader::last_step() const { return -1; }
std::vector<SeriesInfo> RunReader::series() const { return {}; }
std::unique_ptr<SeriesInfo> RunReader::find(const std::string&,
                                            const std::string&,
                                            const std::string&) const {
  return nullptr;
}
std::vector<NumberPoint> RunReader::numbers(int64_t, const StepRange&, int64_t) const { return {}; }
std::vector<NumberStretch> RunReader::stretches(int64_t, const StepRange&, int64_t) const {
  return {};
}
std::vector<LastNumber> RunReader::last_numbers() const { return {}; }
std::vector<std::pair<int64_t, Reading>> RunReader::frames(int64_t,
                                                           const StepRange&,
                                                           int64_t,
                                                           int64_t) const {
  return {};
}
std::vector<std::pair<int64_t, Reading>> RunReader::readings(int64_t, const StepRange&) const {
  return {};
}
void RunReader::for_each_step(const std::function<void(const StepReadings&)>&,
                              const StepRange&) const {}
std::vector<Note> RunReader::notes() const { return {}; }

}  // namespace flightdeck
