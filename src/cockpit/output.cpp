// SPDX-License-Identifier: MIT
#include "cockpit/output.h"

#include <algorithm>
#include <cstdio>

#include "base/clock.h"
#include "graph/error_message.h"

namespace flightdeck {
namespace {

constexpr size_t kMaxRemarks = 50, kMaxWarnings = 10;

void write_to_stderr(const std::string& text) {
  std::fprintf(stderr, "flightdeck: %s\n", text.c_str());
}

}  // namespace

Output::Output(std::function<void(const std::string&)> on_warning,
               std::function<std::string(const std::string&)> wording)
    : on_warning_(std::move(on_warning)), wording_(std::move(wording)) {
  if (!on_warning_) on_warning_ = write_to_stderr;
}

void Output::for_each_sink(const std::function<void(Sink&)>& call) {
  // The copy holds them while they are called: a sink may call the cockpit, which may let go of it.
  const std::vector<std::shared_ptr<Sink>> sinks = sinks_;
  for (const std::shared_ptr<Sink>& sink : sinks) {
    try {
      call(*sink);
    } catch (...) {
      warn("a recorder failed and is dropped; training goes on: " + current_message());
      sinks_.erase(std::remove(sinks_.begin(), sinks_.end(), sink), sinks_.end());
    }
  }
}

void Output::begin(const RunInfo& info) {
  has_begun_ = true;
  for_each_sink([&](Sink& sink) { sink.begin(info); });
}

void Output::write(const StepReadings& readings) {
  if (readings.readings.empty()) return;
  for_each_sink([&](Sink& sink) { sink.write(readings); });
}

void Output::note(int64_t step,
                  NoteKind kind,
                  const std::string& quantity,
                  const std::string& text) {
  const Note note{step, seconds_since_1970(), kind, quantity, worded(text)};
  if (hear_note_) hear_note_(note);
  for_each_sink([&](Sink& sink) { sink.note(note); });
}

void Output::remark(int64_t step, const std::string& quantity, const std::string& text) {
  if (remarks_.size() > kMaxRemarks || !remarks_.insert(quantity + '\n' + text).second) return;
  note(step,
       NoteKind::kRemark,
       quantity,
       remarks_.size() > kMaxRemarks ? "further remarks are left out" : text);
}

void Output::finish(Ending ending) {
  for_each_sink([&](Sink& sink) { sink.finish(ending); });
  sinks_.clear();
}

void Output::warn(const std::string& text) {
  try {
    on_warning_(worded(text));
  } catch (...) {
    write_to_stderr(text);  // what could not be passed on is not lost
  }
}

void Output::warn_once(const std::string& matter, const std::string& text) {
  if (warnings_.size() >= kMaxWarnings || !warnings_.insert(matter).second) return;
  warn(warnings_.size() < kMaxWarnings ? text : text + " (further warnings like it are left out)");
}

}  // namespace flightdeck
