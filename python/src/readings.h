// SPDX-License-Identifier: MIT
// Sinks of Python's and the readings that a cockpit keeps for Python.
#pragma once

#include <map>
#include <mutex>

#include "bind.h"

namespace flightdeck::python {

// Hands on to any object with begin(info), write(step), note(note) and finish(ending).
class PythonSink : public Sink {
 public:
  explicit PythonSink(py::object object) : object_(std::move(object)) {}
  void begin(const RunInfo& info) override { call("begin", info); }
  void write(const StepReadings& step) override { call("write", step); }
  void note(const Note& note) override { call("note", note); }
  void finish(Ending ending) override { call("finish", ending); }

 private:
  template <typename Argument>
  void call(const char* method, const Argument& argument) {
    const py::gil_scoped_acquire lock;
    heeding_interrupts([&] {
      return object_.get().attr(method)(py::cast(argument, py::return_value_policy::copy));
    });
  }

  Held object_;
};

// Returns a sink of C++ as it is, and any other object as a PythonSink.
std::shared_ptr<Sink> sink_of(const py::object& given);

// Keeps the readings of the last steps, and all notes up to some.
class RecentReadings : public Sink {
 public:
  explicit RecentReadings(std::optional<int64_t> steps) : most_(steps) {}
  void begin(const RunInfo&) override {}
  void write(const StepReadings& step) override;
  void note(const Note& note) override;
  void finish(Ending) override {}

  std::map<int64_t, std::vector<Reading>> steps() const;
  std::vector<Note> notes() const;

 private:
  mutable std::mutex mutex_;  // training writes while another thread reads
  std::optional<int64_t> most_;
  std::map<int64_t, std::vector<Reading>> steps_;
  std::vector<Note> notes_;
};

}  // namespace flightdeck::python
