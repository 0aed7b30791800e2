// SPDX-License-Identifier: MIT
// Where readings, notes and warnings of one run go.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "flightdeck/reading.h"

namespace flightdeck {

// Passes on to all sinks. A sink that throws is dropped with a warning; nothing is thrown.
class Output {
 public:
  Output(std::function<void(const std::string&)> on_warning,
         std::function<std::string(const std::string&)> wording);

  void add(std::shared_ptr<Sink> sink) { sinks_.push_back(std::move(sink)); }
  bool has_begun() const { return has_begun_; }
  void begin(const RunInfo& info);
  void write(const StepReadings& readings);
  void note(int64_t step, NoteKind kind, const std::string& quantity, const std::string& text);
  // Passes the same remark on once, and at most a few dozen different ones.
  void remark(int64_t step, const std::string& quantity, const std::string& text);
  void finish(Ending ending);
  void warn(const std::string& text);
  // Sets a function that is called with every note, beside the sinks.
  void on_note(std::function<void(const Note&)> hear) { hear_note_ = std::move(hear); }
  // Says `text` unless the same `matter` was warned of before, and at most a few matters.
  void warn_once(const std::string& matter, const std::string& text);

 private:
  void for_each_sink(const std::function<void(Sink&)>& call);

  std::string worded(const std::string& text) const { return wording_ ? wording_(text) : text; }

  std::function<void(const std::string&)> on_warning_;
  std::function<std::string(const std::string&)> wording_;
  std::function<void(const Note&)> hear_note_;
  std::vector<std::shared_ptr<Sink>> sinks_;
  std::set<std::string> remarks_, warnings_;
  bool has_begun_ = false;
};

}  // namespace flightdeck
