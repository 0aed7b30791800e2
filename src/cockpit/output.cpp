// SPDX-License-Identifier: MIT
#include "cockpit/output.h"

#include <algorithm>
#include <cstdio>

#include <c10/util/Exception.h>

#include "cockpit/run_info.h"

namespace flightdeck {
namespace {

constexpr size_t kMaxRemarks = 50, kMaxWarnings = 10;

}  // namespace

std::string message_of(const std::exception& error) {
  const auto* torch_error = dynamic_cast<const c10::Error*>(&error);
  return torch_error != nullptr ? torch_error->what_without_backtrace() : error.what();
}

std::string current_message() {
  try {
    throw;
  } catch (const std::exception& error) {
    return message_of(error);
  } catch (...) {
    return "something was thrown that is no std::exception";
  }
}

Output::Output(std::function<void(const std::string&)> on_warning)
    : on_warning_(std::move(on_warning)) {
  if (on_warning_) return;
  on_warning_ = [](const std::string& text) {
    std::fprintf(stderr, "flightdeck: %s\n", text.c_str());
  };
}

void Output::for_each_sink(const std::function<void(Sink&)>& call) {
  for (size_t k = 0; k < sinks_.size();) {
    try {
      call(*sinks_[k]);
      ++k;
    } catch (const std::exception& error) {
      warn("a recorder failed and is dropped; training goes on: " + message_of(error));
      sinks_.erase(sinks_.begin() + static_cast<int64_t>(k));
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
  const Note note{step, wall_time(), kind, quantity, text};
  for_each_sink([&](Sink& sink) { sink.note(note); });
}

void Output::remark(int64_t step, const std::string& quantity, const std::string& text) {
  if (remarks_.size() > kMaxRemarks || !remarks_.insert(quantity + '\n' + text).second) return;
  note(step,
       NoteKind::kRemark,
       quantity,
       remarks_.size() > kMaxRemarks ? "further remarks are left out" : text);
}

void Output::finish(const std::string& ending) {
  for_each_sink([&](Sink& sink) { sink.finish(ending); });
  sinks_.clear();
}

void Output::warn(const std::string& text) { on_warning_(text); }

void Output::warn_once(const std::string& matter, const std::string& text) {
  if (warnings_.size() >= kMaxWarnings || !warnings_.insert(matter).second) return;
  warn(warnings_.size() < kMaxWarnings ? text : text + " (further warnings like it are left out)");
}

}  // namespace flightdeck
