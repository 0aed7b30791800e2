// SPDX-License-Identifier: MIT
// Quantities, their due steps and their values, of the catalogue and of Python's own.
#include "views.h"

namespace flightdeck::python {

DueSteps due_steps_of(const py::object& given) {
  if (given.is_none()) return DueSteps();
  if (py::isinstance<DueSteps>(given)) return given.cast<DueSteps>();
  if (py::isinstance<py::str>(given)) return DueSteps::parse(given.cast<std::string>());
  if (py::isinstance<py::int_>(given)) return DueSteps::every(given.cast<int64_t>());
  if (PyCallable_Check(given.ptr()) != 0) {
    return DueSteps::when([function = Held(given)](int64_t step) {
      const py::gil_scoped_acquire lock;
      return heeding_interrupts([&] { return function.get()(step).cast<bool>(); });
    });
  }
  return DueSteps::at(given.cast<std::vector<int64_t>>());
}

StepNeeds step_needs_of(const py::object& given) {
  if (given.is_none()) return StepNeeds();
  if (py::isinstance<StepNeeds>(given)) return given.cast<StepNeeds>();
  StepNeeds needs;
  needs.gradients = given.cast<Needs>();
  return needs;
}

Value value_of(const py::object& returned) {
  if (returned.is_none()) return Value();
  if (py::isinstance<Value>(returned)) return returned.cast<Value>();
  if (py::isinstance<py::float_>(returned) || py::isinstance<py::int_>(returned)) {
    return Value(returned.cast<double>());
  }
  if (py::isinstance<py::dict>(returned)) {
    Value value;
    for (const auto& [name, item] : returned.cast<py::dict>()) {
      const bool is_number = py::isinstance<py::float_>(item) || py::isinstance<py::int_>(item);
      if (is_number) {
        value.with(name.cast<std::string>(), item.cast<double>());
      } else {
        value.with(name.cast<std::string>(), item.cast<Tensor>());
      }
    }
    return value;
  }
  try {
    return Value(returned.cast<Tensor>());
  } catch (const py::cast_error&) {
    throw py::type_error(
        "a quantity returned " + std::string(py::repr(py::type::of(returned))) +
        "; return None, a number, a tensor, a dict of these or a flightdeck.Value");
  }
}

namespace {

// Returns the functions that the object has; one that is not there stays empty.
Quantity::Functions functions_of(const py::object& object) {
  const auto find = [&](const char* name) -> std::optional<Held> {
    py::object found = py::isinstance<py::dict>(object) ? object.cast<py::dict>().attr("get")(name)
                                                        : py::getattr(object, name, py::none());
    if (found.is_none()) return std::nullopt;
    return Held(std::move(found));
  };
  Quantity::Functions functions;
  if (const auto compute = find("compute")) {
    functions.compute = [compute](const StepView& step) {
      const py::gil_scoped_acquire lock;
      return heeding_interrupts([&] { return value_of(call_with_step(compute->get(), step)); });
    };
  }
  if (const auto after = find("after_update")) {
    functions.after_update = [after](const UpdateView& update) {
      const py::gil_scoped_acquire lock;
      return heeding_interrupts([&] { return value_of(call_with_view(after->get(), update)); });
    };
  }
  if (const auto after = find("after_next")) {
    functions.after_next = [after](const ChordView& chord) {
      const py::gil_scoped_acquire lock;
      return heeding_interrupts([&] { return value_of(after->get()(ChordView(chord))); });
    };
  }
  if (const auto needs = find("needs")) {
    functions.needs = [needs] {
      const py::gil_scoped_acquire lock;
      return heeding_interrupts([&] { return step_needs_of(needs->get()()); });
    };
  }
  const auto save = find("save"), load = find("load");
  if (save && load) {
    functions.save = [save] {
      const py::gil_scoped_acquire lock;
      return save->get()().cast<std::vector<double>>();
    };
    functions.load = [load](const std::vector<double>& saved) {
      const py::gil_scoped_acquire lock;
      load->get()(saved);
    };
  }
  return functions;
}

Quantity make_quantity(const std::string& name,
                       const py::object& compute,
                       const py::object& after_update,
                       const py::object& after_next,
                       const py::object& make,
                       const py::object& needs,
                       const std::string& summary,
                       const std::string& reference,
                       const py::object& due,
                       Cost cost,
                       bool has_groups) {
  Quantity quantity(name);
  quantity.summary(summary).reference(reference).cost(cost).has_groups(has_groups);
  quantity.needs(step_needs_of(needs)).on(due_steps_of(due));
  if (!make.is_none()) {
    quantity.make([make = Held(make)] {
      const py::gil_scoped_acquire lock;
      return functions_of(make.get()());
    });
    return quantity;
  }
  py::dict given;
  given["compute"] = compute;
  given["after_update"] = after_update;
  given["after_next"] = after_next;
  const Quantity::Functions functions = functions_of(given);
  if (functions.compute) quantity.compute(functions.compute);
  if (functions.after_update) quantity.after_update(functions.after_update);
  if (functions.after_next) quantity.after_next(functions.after_next);
  return quantity;
}

SettingText setting_text(const py::handle& value) {
  if (py::isinstance<py::bool_>(value)) return SettingText(value.cast<bool>());
  if (py::isinstance<py::int_>(value)) return SettingText(value.cast<int64_t>());
  if (py::isinstance<py::float_>(value)) return SettingText(value.cast<double>());
  return SettingText(value.cast<std::string>());
}

Settings settings_of(const py::dict& given) {
  Settings settings;
  for (const auto& [name, value] : given) {
    settings.set(name.cast<std::string>(), setting_text(value));
  }
  return settings;
}

void bind_due_steps(py::module_& module) {
  py::class_<DueSteps>(module, "DueSteps")
      .def(py::init(&due_steps_of), py::arg("given") = py::none())
      .def_static("every", &DueSteps::every, py::arg("interval"), py::arg("offset") = 0)
      .def_static("every_after", &DueSteps::every_after, py::arg("interval"), py::arg("first"))
      .def_static("logarithmic",
                  &DueSteps::logarithmic,
                  py::arg("start"),
                  py::arg("end"),
                  py::arg("points") = 300,
                  py::arg("base") = 10.0,
                  py::arg("first") = true)
      .def_static("at", &DueSteps::at, py::arg("steps"))
      .def_static(
          "when",
          [](const py::function& predicate, const std::string& text) {
            const DueSteps due = due_steps_of(predicate);
            return DueSteps::when([due](int64_t step) { return due.contains(step); }, text);
          },
          py::arg("predicate"),
          py::arg("text") = "predicate")
      .def_static("parse", &DueSteps::parse, py::arg("text"))
      .def("__contains__", &DueSteps::contains, py::arg("step"))
      .def_property_readonly("text", &DueSteps::text)
      .def("__repr__", [](const DueSteps& due) { return "DueSteps('" + due.text() + "')"; });
}

void bind_values(py::module_& module) {
  py::class_<Value>(module, "Value")
      .def(py::init(&value_of), py::arg("numbers") = py::none())
      .def_static("none", &Value::none, py::arg("why"))
      .def(
          "with_numbers",
          [](Value value, const std::string& field, const Tensor& numbers) {
            return value.with(field, numbers);
          },
          py::arg("field"),
          py::arg("numbers"))
      .def(
          "with_numbers",
          [](Value value, const std::string& field, double number) {
            return value.with(field, number);
          },
          py::arg("field"),
          py::arg("numbers"))
      .def(
          "with_list",
          [](Value value, const std::string& field, const Tensor& list) {
            return value.with_list(field, list);
          },
          py::arg("field"),
          py::arg("list"))
      .def(
          "with_histogram",
          [](Value value,
             const std::string& field,
             std::vector<Bins> axes,
             const Tensor& counts,
             const std::optional<Tensor>& outside) {
            return value.with_histogram(field, std::move(axes), counts, or_undefined(outside));
          },
          py::arg("field"),
          py::arg("axes"),
          py::arg("counts"),
          py::arg("outside") = std::nullopt)
      .def(
          "with_rounding",
          [](Value value, const Tensor& share) { return value.with_rounding(share); },
          py::arg("share"));
  py::class_<StepNeeds>(module, "StepNeeds")
      .def(py::init([](Needs gradients,
                       std::vector<Bins> histograms,
                       std::vector<JointBins> joint_histograms,
                       CurvatureNeeds curvature,
                       const CurvatureBatch& curvature_batch,
                       const std::optional<SpectrumNeed>& spectrum,
                       const std::optional<VivitNeed>& vivit,
                       bool activations,
                       bool update,
                       bool chord) {
             StepNeeds needs;
             needs.gradients = gradients;
             needs.histograms = std::move(histograms);
             needs.joint_histograms = std::move(joint_histograms);
             needs.curvature = curvature;
             needs.curvature_batch = curvature_batch;
             needs.spectrum = spectrum;
             needs.vivit = vivit;
             needs.activations = activations;
             needs.update = update;
             needs.chord = chord;
             return needs;
           }),
           py::arg("gradients") = Needs(),
           py::kw_only(),
           py::arg("histograms") = std::vector<Bins>(),
           py::arg("joint_histograms") = std::vector<JointBins>(),
           py::arg("curvature") = CurvatureNeeds(),
           py::arg("curvature_batch") = CurvatureBatch(),
           py::arg("spectrum") = std::nullopt,
           py::arg("vivit") = std::nullopt,
           py::arg("activations") = false,
           py::arg("update") = false,
           py::arg("chord") = false);
}

void bind_catalogue(py::module_& module) {
  py::class_<SettingInfo>(module, "SettingInfo")
      .def_readonly("name", &SettingInfo::name)
      .def_readonly("default", &SettingInfo::default_text)
      .def_readonly("summary", &SettingInfo::summary);
  py::class_<PresetInfo>(module, "PresetInfo")
      .def_readonly("name", &PresetInfo::name)
      .def_readonly("summary", &PresetInfo::summary)
      .def_readonly("quantities", &PresetInfo::quantities)
      .def_readonly("due", &PresetInfo::due);
  module.def(
      "quantity",
      [](const std::string& name, const py::dict& settings) {
        return quantity(name, settings_of(settings));
      },
      py::arg("name"),
      py::arg("settings"));
  module.def("all_quantities", &all_quantities);
  module.def("register_quantity", [](const Quantity& quantity) { register_quantity(quantity); });
  module.def(
      "preset",
      [](const std::string& name, const py::object& due) {
        return due.is_none() ? preset(name) : preset(name, due_steps_of(due));
      },
      py::arg("name"),
      py::arg("due") = py::none());
  module.def("all_presets", &all_presets);
  module.def(
      "register_preset",
      [](const std::string& name,
         const std::string& summary,
         std::vector<std::string> quantities,
         const py::object& due) {
        PresetInfo info{name, summary, std::move(quantities)};
        if (!due.is_none()) info.due = due_steps_of(due);
        register_preset(std::move(info));
      },
      py::arg("name"),
      py::arg("summary"),
      py::arg("quantities"),
      py::arg("due") = py::none());
}

}  // namespace

void bind_quantities(py::module_& module) {
  bind_due_steps(module);
  bind_values(module);
  py::class_<Quantity>(module, "Quantity")
      .def(py::init(&make_quantity),
           py::arg("name"),
           py::arg("compute") = py::none(),
           py::kw_only(),
           py::arg("after_update") = py::none(),
           py::arg("after_next") = py::none(),
           py::arg("make") = py::none(),
           py::arg("needs") = py::none(),
           py::arg("summary") = "",
           py::arg("reference") = "",
           py::arg("due") = py::none(),
           py::arg("cost") = Cost::kFree,
           py::arg("has_groups") = false)
      .def_property_readonly("name", [](const Quantity& q) { return q.name(); })
      .def_property_readonly("summary", [](const Quantity& q) { return q.summary(); })
      .def_property_readonly("reference", [](const Quantity& q) { return q.reference(); })
      .def_property_readonly("cost", [](const Quantity& q) { return q.cost(); })
      .def_property_readonly("due", [](const Quantity& q) { return q.due(); })
      .def_property_readonly("has_groups", [](const Quantity& q) { return q.has_groups(); })
      .def_property_readonly("measures_process",
                             [](const Quantity& q) { return q.measures_process(); })
      .def_property_readonly("reads_parameters",
                             [](const Quantity& q) {
                               return q.reads_parameters() || q.needs().update || q.needs().chord;
                             })
      .def_property_readonly("needs_curvature",
                             [](const Quantity& q) {
                               const StepNeeds& needs = q.needs();
                               return needs.spectrum || needs.vivit || !needs.curvature.empty();
                             })
      .def_property_readonly("meets_before_backward",
                             [](const Quantity& q) { return q.needs().spectrum.has_value(); })
      .def_property_readonly("settings", [](const Quantity& q) { return q.settings_text(); })
      .def_property_readonly("setting_infos", [](const Quantity& q) { return q.setting_infos(); })
      // Each of these returns another quantity and leaves this one as it is.
      .def(
          "on",
          [](Quantity q, const py::object& due) { return q.on(due_steps_of(due)); },
          py::arg("due"))
      .def(
          "every",
          [](Quantity q, int64_t interval) { return q.every(interval); },
          py::arg("interval"))
      .def(
          "named",
          [](Quantity q, const std::string& name) { return q.named(name); },
          py::arg("name"))
      .def("__repr__",
           [](const Quantity& q) { return "<Quantity " + q.name() + ", " + q.due().text() + ">"; });
  bind_catalogue(module);
}

}  // namespace flightdeck::python
