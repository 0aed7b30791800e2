// SPDX-License-Identifier: MIT
// Lamps: what they find, and lamps of Python's own.
#include "record.h"

namespace flightdeck::python {
namespace {

// Holds what a lamp written in Python is given. The reader ends with the call.
struct PythonLampView {
  std::shared_ptr<LentReader> run;
  std::string status;
  int64_t last_step = -1;
  std::vector<Note> notes;
};

std::vector<Finding> findings_of(const py::object& returned) {
  if (returned.is_none()) return {};
  if (py::isinstance<Finding>(returned)) return {returned.cast<Finding>()};
  return returned.cast<std::vector<Finding>>();
}

Lamp make_lamp(const std::string& name,
               const std::string& summary,
               const py::object& look,
               Severity severity,
               std::vector<std::string> reads) {
  Lamp lamp;
  lamp.name = name;
  lamp.summary = summary;
  lamp.severity = severity;
  lamp.reads = std::move(reads);
  lamp.look = [look = Held(look)](const LampView& view) {
    const py::gil_scoped_acquire lock;
    const auto run = std::make_shared<LentReader>(view.run);
    struct End {
      LentReader& run;
      ~End() { run.end(); }
    } end{*run};
    return heeding_interrupts([&] {
      return findings_of(look.get()(
          PythonLampView{run, to_string(view.summary.status), view.summary.last_step, view.notes}));
    });
  };
  return lamp;
}

}  // namespace

void bind_lamps(py::module_& module) {
  py::class_<Finding>(module, "Finding")
      .def(py::init([](const std::string& symptom,
                       const std::string& evidence,
                       int64_t step,
                       const std::string& quantity,
                       const std::string& cause,
                       const std::string& advice,
                       double rate_factor) {
             Finding finding;
             finding.step = step;
             finding.quantity = quantity;
             finding.symptom = symptom;
             finding.evidence = evidence;
             finding.cause = cause;
             finding.advice = advice;
             finding.rate_factor = rate_factor;
             return finding;
           }),
           py::arg("symptom"),
           py::arg("evidence"),
           py::kw_only(),
           py::arg("step") = -1,
           py::arg("quantity") = "",
           py::arg("cause") = "",
           py::arg("advice") = "",
           py::arg("rate_factor") = 0.0)
      .def_readonly("step", &Finding::step)
      .def_readonly("quantity", &Finding::quantity)
      .def_readonly("symptom", &Finding::symptom)
      .def_readonly("evidence", &Finding::evidence)
      .def_readonly("cause", &Finding::cause)
      .def_readonly("advice", &Finding::advice)
      .def_readonly("rate_factor", &Finding::rate_factor)
      .def_readonly("factor", &Finding::factor)
      .def_readonly("layers", &Finding::layers)
      .def_readonly("lamp", &Finding::lamp)
      .def_readonly("page", &Finding::page)
      .def_readonly("severity", &Finding::severity)
      .def("text", &Finding::text)
      .def("__repr__", [](const Finding& finding) {
        return "<Finding " + std::string(to_string(finding.severity)) + ": " + finding.symptom +
               ">";
      });
  py::class_<PythonLampView>(module, "LampView")
      .def_readonly("run", &PythonLampView::run)
      .def_readonly("status", &PythonLampView::status)
      .def_readonly("last_step", &PythonLampView::last_step)
      .def_readonly("notes", &PythonLampView::notes);
  py::class_<Lamp>(module, "Lamp")
      .def_readonly("name", &Lamp::name)
      .def_readonly("summary", &Lamp::summary)
      .def_readonly("severity", &Lamp::severity)
      .def_readonly("waits_for", &Lamp::waits_for)
      .def_readonly("false_alarms", &Lamp::false_alarms)
      .def_readonly("page", &Lamp::page)
      .def_readonly("is_exact", &Lamp::is_exact)
      .def_readonly("is_evidence", &Lamp::is_evidence)
      .def_readonly("reads", &Lamp::reads);
  module.def("lamp_catalogue", &lamp_catalogue);
  module.def(
      "register_lamp",
      [](const std::string& name,
         const std::string& summary,
         const py::object& look,
         Severity severity,
         std::vector<std::string> reads) {
        register_lamp(make_lamp(name, summary, look, severity, std::move(reads)));
      },
      py::arg("name"),
      py::arg("summary"),
      py::arg("look"),
      py::kw_only(),
      py::arg("severity") = Severity::kWarning,
      py::arg("reads") = std::vector<std::string>());
  module.def(
      "findings_in",
      [](const RunReader& run, const std::vector<std::string>& on) { return findings_in(run, on); },
      py::arg("run"),
      py::arg("on") = std::vector<std::string>{"advice"},
      Unlocked());
}

}  // namespace flightdeck::python
