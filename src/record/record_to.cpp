// SPDX-License-Identifier: MIT
// Connects the cockpit with the recorder, since the cockpit itself knows sinks only.
#include <chrono>
#include <memory>
#include <utility>

#include "flightdeck/cockpit.h"
#include "flightdeck/ranks.h"
#include "flightdeck/record.h"

namespace flightdeck {
namespace {

constexpr const char* kRanks = "ranks";  // of the run's config; none says one

std::string ranks_of(const RunInfo& info) {
  const auto found = info.config.find(kRanks);
  return found == info.config.end() ? "1" : found->second;
}

// Says in the record where the number of ranks changed, in words and by a mark for charts.
class ResumingRecorder final : public Recorder {
 public:
  ResumingRecorder(const std::string& folder, const RecorderOptions& options, std::string had)
      : Recorder(folder, options), step_(*options.resume_at), had_(std::move(had)) {}

  void begin(const RunInfo& info) override {
    Recorder::begin(info);
    const std::string has = ranks_of(info);
    if (has == had_) return;
    Note note;
    note.step = step_;
    note.time =
        std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
    note.text = "goes on with " + has + (has == "1" ? " rank" : " ranks") + ", had " + had_;
    Recorder::note(note);
    Reading mark;
    mark.quantity = "interventions";
    mark.field = kRanks;
    mark.number = std::stod(has);
    Recorder::write({step_, note.time, {mark}});
    had_ = has;  // a run begins again when more is known of it
  }

 private:
  int64_t step_;
  std::string had_;
};

}  // namespace

void Cockpit::record_to(const std::string& folder) { record_to(folder, RecorderOptions()); }

void Cockpit::record_to(const std::string& folder, const RecorderOptions& recorder) {
  if (options().ranks && options().ranks->rank() > 0) return;
  RecorderOptions recording = recorder;
  if (!recording.on_warning) recording.on_warning = options().on_warning;
  if (recording.resume_at && RunReader::is_run(folder)) {
    std::string had = ranks_of(RunReader(folder).info());
    add_sink(std::make_shared<ResumingRecorder>(folder, recording, std::move(had)));
  } else {
    add_sink(std::make_shared<Recorder>(folder, recording));
  }
  record_folder_ = folder;
}

}  // namespace flightdeck
