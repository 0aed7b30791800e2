// SPDX-License-Identifier: MIT
// Individual gradients: answers by a pass of their own, and beside the caller's backward().
#include "bind.h"

namespace flightdeck::python {
namespace {

GradientOptions gradient_options(const std::optional<std::vector<Tensor>>& directions,
                                 const std::vector<Bins>& histograms,
                                 const std::vector<JointBins>& joint_histograms,
                                 bool keep_rows,
                                 bool reuse_gradients,
                                 const py::object& on_parameter) {
  GradientOptions options;
  if (directions) options.directions = *directions;
  options.histograms = histograms;
  options.joint_histograms = joint_histograms;
  options.keep_rows = keep_rows;
  options.reuse_gradients = reuse_gradients;
  if (!on_parameter.is_none()) {
    options.on_parameter = [function = Held(on_parameter)](ParameterGradients& answers) {
      const py::gil_scoped_acquire lock;
      heeding_interrupts([&] { return function.get()(ParameterGradients(answers)); });
    };
  }
  return options;
}

Tensor ParameterGradients::*gradient_field(const std::string& name) {
  for (const GradientField& field : gradient_fields()) {
    if (name == field.name) return field.tensor;
  }
  if (name == "squared_mean") return &ParameterGradients::squared_mean;
  throw py::value_error("gradients have no field '" + name + "'");
}

void bind_gradient_answers(py::module_& module) {
  py::class_<Bins>(module, "Bins")
      .def(py::init([](double low, double high, int64_t count) {
             return Bins{low, high, count};
           }),
           py::arg("low") = Bins().low,
           py::arg("high") = Bins().high,
           py::arg("count") = Bins().count)
      .def_readwrite("low", &Bins::low)
      .def_readwrite("high", &Bins::high)
      .def_readwrite("count", &Bins::count);
  py::class_<JointBins>(module, "JointBins")
      .def(py::init([](const Bins& gradients, const Bins& parameters) {
             return JointBins{gradients, parameters};
           }),
           py::arg("gradients") = JointBins().gradients,
           py::arg("parameters") = JointBins().parameters)
      .def_readwrite("gradients", &JointBins::gradients)
      .def_readwrite("parameters", &JointBins::parameters);
  py::class_<ParameterGradients> answers(module, "ParameterGradients");
  for (const GradientField& field : gradient_fields()) {
    answers.def_readonly(field.name, field.tensor);
  }
  answers.def_readonly("name", &ParameterGradients::name)
      .def_readonly("squared_mean", &ParameterGradients::squared_mean)
      .def_readonly("epsilon", &ParameterGradients::epsilon)
      .def_readonly("histograms", &ParameterGradients::histograms)
      .def_readonly("joint_histograms", &ParameterGradients::joint_histograms);
  py::class_<KeptRows, std::shared_ptr<KeptRows>>(module, "KeptRows")
      .def("dots", &KeptRows::dots, py::arg("directions"), Unlocked());
  py::class_<Gradients>(module, "Gradients")
      .def_readonly("batch_size", &Gradients::batch_size)
      .def_readonly("parameters", &Gradients::parameters)
      .def_readonly("total", &Gradients::total)
      .def_property_readonly(
          "rows", [](const Gradients& all) { return std::const_pointer_cast<KeptRows>(all.rows); })
      .def_readonly("coverage", &Gradients::coverage)
      .def_readonly("remarks", &Gradients::remarks)
      .def("__getitem__", &Gradients::at, py::arg("name"), py::return_value_policy::copy)
      .def("__len__", [](const Gradients& all) { return all.parameters.size(); })
      .def(
          "__iter__",
          [](const Gradients& all) {
            return py::make_iterator(all.parameters.begin(), all.parameters.end());
          },
          py::keep_alive<0, 1>())
      .def("rounding_share", &Gradients::rounding_share, py::arg("answers"), Unlocked())
      .def(
          "concatenated",
          [](const Gradients& all, const std::string& field) {
            return all.concatenated(gradient_field(field));
          },
          py::arg("field"));
}

}  // namespace

void bind_gradients(py::module_& module) {
  bind_gradient_answers(module);
  const auto answer = [](auto ask) {
    return [ask](const Batch& batch,
                 Needs what,
                 const std::optional<std::vector<Tensor>>& directions,
                 const std::vector<Bins>& histograms,
                 const std::vector<JointBins>& joint_histograms,
                 bool keep_rows,
                 bool reuse_gradients,
                 const py::object& on_parameter) {
      const GradientOptions options = gradient_options(
          directions, histograms, joint_histograms, keep_rows, reuse_gradients, on_parameter);
      const py::gil_scoped_release unlocked;
      return ask(batch, what, options);
    };
  };
  const auto define = [](auto& where, const char* name, auto function) {
    where.def(name,
              function,
              py::arg("batch"),
              py::arg("what"),
              py::kw_only(),
              py::arg("directions") = std::nullopt,
              py::arg("histograms") = std::vector<Bins>(),
              py::arg("joint_histograms") = std::vector<JointBins>(),
              py::arg("keep_rows") = false,
              py::arg("reuse_gradients") = false,
              py::arg("on_parameter") = py::none());
  };
  define(module, "gradients", answer([](const Batch& b, Needs what, const GradientOptions& o) {
           return gradients(b, what, o);
         }));
  define(module, "coverage", answer([](const Batch& b, Needs what, const GradientOptions& o) {
           return coverage(b, what, o);
         }));
  // Passes of others may be ending in this moment, so the watch is destroyed unlocked, as it was
  // made.
  define(module, "watch", answer([](const Batch& b, Needs what, const GradientOptions& o) {
           return std::shared_ptr<Watch>(new Watch(b, what, o), [](Watch* watch) {
             const py::gil_scoped_release unlocked;
             delete watch;
           });
         }));
  py::class_<Watch, std::shared_ptr<Watch>>(module, "Watch")
      .def_property_readonly("has_run", &Watch::has_run)
      .def("finish", &Watch::finish, Unlocked());
}

}  // namespace flightdeck::python
