// SPDX-License-Identifier: MIT
// Diagnoses, differences of runs, and alerts.
#include "flightdeck/diagnosis.h"

#include "flightdeck/alerts.h"
#include "flightdeck/run_difference.h"
#include "record.h"

namespace flightdeck::python {
namespace {

void bind_causes(py::module_& module) {
  py::class_<Evidence>(module, "Evidence")
      .def_readonly("lamp", &Evidence::lamp)
      .def_readonly("is_lit", &Evidence::is_lit)
      .def_readonly("weight", &Evidence::weight)
      .def_readonly("title", &Evidence::title)
      .def_readonly("text", &Evidence::text)
      .def_readonly("quantity", &Evidence::quantity)
      .def_readonly("step", &Evidence::step)
      .def_readonly("layers", &Evidence::layers)
      .def_readonly("samples", &Evidence::samples)
      .def_readonly("samples_are_positions", &Evidence::samples_are_positions)
      .def_readonly("limits", &Evidence::limits)
      .def("__repr__", [](const Evidence& evidence) {
        return "<Evidence " + evidence.lamp + (evidence.is_lit ? ", lit>" : ", dark>");
      });
  py::class_<RankedCause>(module, "RankedCause")
      .def_readonly("name", &RankedCause::name)
      .def_readonly("sentence", &RankedCause::sentence)
      .def_readonly("advice", &RankedCause::advice)
      .def_readonly("probability", &RankedCause::probability)
      .def_readonly("changes", &RankedCause::changes)
      .def_readonly("factor", &RankedCause::factor)
      .def_readonly("rate_factor", &RankedCause::rate_factor)
      .def_readonly("step", &RankedCause::step)
      .def_readonly("page", &RankedCause::page)
      .def_readonly("speaks_for", &RankedCause::speaks_for)
      .def_readonly("speaks_against", &RankedCause::speaks_against)
      .def("__repr__", [](const RankedCause& cause) { return "<RankedCause " + cause.name + ">"; });
  py::class_<Diagnosis>(module, "Diagnosis")
      .def_property_readonly(
          "verdict", [](const Diagnosis& diagnosis) { return to_string(diagnosis.verdict); })
      .def_readonly("sentence", &Diagnosis::sentence)
      .def_readonly("confidence", &Diagnosis::confidence)
      .def_readonly("health", &Diagnosis::health)
      .def_readonly("causes", &Diagnosis::causes)
      .def_readonly("findings", &Diagnosis::findings)
      .def_readonly("track", &Diagnosis::track)
      .def("__str__", [](const Diagnosis& diagnosis) { return diagnosis.sentence; })
      .def("__repr__", [](const Diagnosis& diagnosis) {
        return "<Diagnosis " + std::string(to_string(diagnosis.verdict)) + ": " +
               diagnosis.sentence + ">";
      });
  module.def(
      "diagnose", [](const RunReader& run) { return diagnose(run); }, py::arg("run"), Unlocked());
}

void bind_differences(py::module_& module) {
  py::class_<SettingDifference>(module, "SettingDifference")
      .def_readonly("key", &SettingDifference::key)
      .def_readonly("first", &SettingDifference::first)
      .def_readonly("second", &SettingDifference::second);
  py::class_<ValueDifference>(module, "ValueDifference")
      .def_readonly("step", &ValueDifference::step)
      .def_readonly("quantity", &ValueDifference::quantity)
      .def_readonly("field", &ValueDifference::field)
      .def_readonly("group", &ValueDifference::group)
      .def_readonly("first", &ValueDifference::first)
      .def_readonly("second", &ValueDifference::second);
  py::class_<RunDifference>(module, "RunDifference")
      .def_readonly("settings", &RunDifference::settings)
      .def_readonly("only_first", &RunDifference::only_first)
      .def_readonly("only_second", &RunDifference::only_second)
      .def_readonly("values", &RunDifference::values)
      .def_property_readonly("first_kind",
                             [](const RunDifference& found) { return to_string(found.first_kind); })
      .def_readonly("first_layer", &RunDifference::first_layer)
      .def_property_readonly("data",
                             [](const RunDifference& found) { return to_string(found.data); })
      .def_readonly("compared", &RunDifference::compared)
      .def_readonly("last_common_step", &RunDifference::last_common_step)
      .def_property_readonly("is_same", &RunDifference::is_same);
  module.def(
      "difference",
      [](const RunReader& first,
         const RunReader& second,
         double tolerance,
         const std::optional<std::set<std::string>>& left_out) {
        DifferenceOptions options;
        options.tolerance = tolerance;
        if (left_out) options.left_out = *left_out;
        return difference(first, second, options);
      },
      py::arg("first"),
      py::arg("second"),
      py::kw_only(),
      py::arg("tolerance") = 0.0,
      py::arg("left_out") = std::nullopt,
      Unlocked());
}

}  // namespace

void bind_diagnoses(py::module_& module) {
  bind_causes(module);
  bind_differences(module);
}

}  // namespace flightdeck::python
