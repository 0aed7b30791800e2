// SPDX-License-Identifier: MIT
// What a cockpit hands on: plain values as Python has them, and sinks.
#include "readings.h"

namespace flightdeck::python {

std::shared_ptr<Sink> sink_of(const py::object& given) {
  if (py::isinstance<Sink>(given)) return given.cast<std::shared_ptr<Sink>>();
  for (const char* method : {"begin", "write", "note", "finish"}) {
    if (!py::hasattr(given, method)) {
      throw py::type_error("add_sink: " + std::string(py::repr(py::type::of(given))) + " has no '" +
                           method +
                           "'; a sink has begin, write, note and finish: derive it from "
                           "flightdeck.Sink");
    }
  }
  return std::make_shared<PythonSink>(given);
}

void RecentReadings::write(const StepReadings& step) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<Reading>& kept = steps_[step.step];
  kept.insert(kept.end(), step.readings.begin(), step.readings.end());
  while (most_ && static_cast<int64_t>(steps_.size()) > *most_) steps_.erase(steps_.begin());
}

void RecentReadings::note(const Note& note) {
  constexpr size_t kMost = 1000;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (notes_.size() < kMost) notes_.push_back(note);
}

std::map<int64_t, std::vector<Reading>> RecentReadings::steps() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return steps_;
}

std::vector<Note> RecentReadings::notes() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return notes_;
}

namespace {

// Names a series as exports do: quantity[/field][@group].
std::string series_name(const Reading& reading) {
  std::string name = reading.quantity;
  if (!reading.field.empty()) name += "/" + reading.field;
  if (!reading.group.empty()) name += "@" + reading.group;
  return name;
}

py::object value_of_reading(const Reading& reading) {
  switch (reading.kind) {
    case ReadingKind::kNumber:
      return py::float_(reading.number);
    case ReadingKind::kList:
      return py::cast(reading.list);
    case ReadingKind::kHistogram:
      return py::cast(reading);
  }
  return py::none();
}

void bind_info(py::module_& module) {
  py::class_<ParameterInfo>(module, "ParameterInfo")
      .def_readonly("name", &ParameterInfo::name)
      .def_readonly("shape", &ParameterInfo::shape)
      .def_readonly("type", &ParameterInfo::type);
  py::class_<QuantityInfo>(module, "QuantityInfo")
      .def_readonly("name", &QuantityInfo::name)
      .def_readonly("summary", &QuantityInfo::summary)
      .def_readonly("due", &QuantityInfo::due)
      .def_readonly("settings", &QuantityInfo::settings)
      .def_readonly("cost", &QuantityInfo::cost);
  py::class_<RunInfo>(module, "RunInfo")
      .def_readonly("start_time", &RunInfo::start_time)
      .def_readonly("flightdeck_version", &RunInfo::flightdeck_version)
      .def_readonly("libtorch_version", &RunInfo::libtorch_version)
      .def_readonly("host", &RunInfo::host)
      .def_readonly("command", &RunInfo::command)
      .def_readonly("device", &RunInfo::device)
      .def_readonly("grouping", &RunInfo::grouping)
      .def_readonly("parameters", &RunInfo::parameters)
      .def_readonly("groups", &RunInfo::groups)
      .def_readonly("quantities", &RunInfo::quantities)
      .def_readonly("config", &RunInfo::config)
      .def_readonly("plan", &RunInfo::plan)
      .def_readonly("coverage", &RunInfo::coverage);
  py::class_<Note>(module, "Note")
      .def_readonly("step", &Note::step)
      .def_readonly("time", &Note::time)
      .def_readonly("kind", &Note::kind)
      .def_readonly("quantity", &Note::quantity)
      .def_readonly("text", &Note::text)
      .def("__repr__", [](const Note& note) {
        return "<Note step=" + std::to_string(note.step) + " " + to_string(note.kind) + " " +
               note.quantity + (note.quantity.empty() ? "" : ": ") + note.text + ">";
      });
}

}  // namespace

py::dict readings_dict(const std::vector<Reading>& readings) {
  py::dict values;
  for (const Reading& reading : readings) {
    values[py::str(series_name(reading))] = value_of_reading(reading);
  }
  return values;
}

void bind_readings(py::module_& module) {
  py::class_<ReadingAxis>(module, "ReadingAxis")
      .def_readonly("low", &ReadingAxis::low)
      .def_readonly("high", &ReadingAxis::high)
      .def_readonly("count", &ReadingAxis::count);
  py::class_<Reading>(module, "Reading")
      .def_readonly("quantity", &Reading::quantity)
      .def_readonly("field", &Reading::field)
      .def_readonly("group", &Reading::group)
      .def_readonly("kind", &Reading::kind)
      .def_readonly("number", &Reading::number)
      .def_readonly("list", &Reading::list)
      .def_readonly("axes", &Reading::axes)
      .def_readonly("counts", &Reading::counts)
      .def_readonly("below", &Reading::below)
      .def_readonly("above", &Reading::above)
      .def_readonly("not_a_number", &Reading::not_a_number)
      .def_property_readonly("name", &series_name)
      .def_property_readonly("value", &value_of_reading)
      .def("__repr__", [](const Reading& reading) {
        return "<Reading " + series_name(reading) + " " + to_string(reading.kind) + ">";
      });
  py::class_<StepReadings>(module, "StepReadings")
      .def_readonly("step", &StepReadings::step)
      .def_readonly("time", &StepReadings::time)
      .def_readonly("readings", &StepReadings::readings)
      .def("values", [](const StepReadings& step) { return readings_dict(step.readings); });
  bind_info(module);
  py::class_<Sink, std::shared_ptr<Sink>>(module, "NativeSink");
  py::class_<MemorySink, Sink, std::shared_ptr<MemorySink>>(module, "MemorySink")
      .def(py::init<>())
      .def_property_readonly("info", &MemorySink::info, py::return_value_policy::copy)
      .def_property_readonly("notes", &MemorySink::notes, py::return_value_policy::copy)
      .def_property_readonly("ending", &MemorySink::ending)
      .def_property_readonly("steps",
                             [](const MemorySink& sink) {
                               py::dict steps;
                               for (const auto& [step, readings] : sink.steps()) {
                                 steps[py::int_(step)] = readings_dict(readings);
                               }
                               return steps;
                             })
      .def("number",
           &MemorySink::number,
           py::arg("step"),
           py::arg("quantity"),
           py::arg("group") = "",
           py::arg("field") = "");
  py::class_<RecentReadings, Sink, std::shared_ptr<RecentReadings>>(module, "RecentReadings")
      .def(py::init<std::optional<int64_t>>(), py::arg("steps"))
      .def_property_readonly("notes", &RecentReadings::notes)
      .def_property_readonly("steps", [](const RecentReadings& sink) {
        py::dict steps;
        for (const auto& [step, readings] : sink.steps()) {
          steps[py::int_(step)] = readings_dict(readings);
        }
        return steps;
      });
  py::class_<Recorder, Sink, std::shared_ptr<Recorder>>(module, "Recorder")
      .def(py::init([](const std::string& folder,
                       int64_t queue_steps,
                       int64_t journal_bytes,
                       std::optional<int64_t> resume_at) {
             RecorderOptions options;
             options.queue_steps = queue_steps;
             options.journal_bytes = journal_bytes;
             options.resume_at = resume_at;
             return std::make_shared<Recorder>(folder, std::move(options));
           }),
           py::arg("folder"),
           py::kw_only(),
           py::arg("queue_steps") = RecorderOptions().queue_steps,
           py::arg("journal_bytes") = RecorderOptions().journal_bytes,
           py::arg("resume_at") = std::nullopt)
      .def_property_readonly("statistics", [](const Recorder& recorder) {
        const RecorderStatistics counted = recorder.statistics();
        py::dict statistics;
        statistics["written"] = counted.written;
        statistics["waits"] = counted.waits;
        statistics["wait_seconds"] = counted.wait_seconds;
        statistics["not_stored"] = counted.not_stored;
        return statistics;
      });
}

}  // namespace flightdeck::python
