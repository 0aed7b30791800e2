// SPDX-License-Identifier: MIT
#include "views.h"

#include "graph/transient_parameters.h"

namespace flightdeck::python {

std::shared_ptr<Borrowed<Vivit>> StepLoan::vivit(const VivitNeed& need) {
  vivits_.push_back(std::make_shared<Borrowed<Vivit>>(get().vivit(need)));
  return vivits_.back();
}

void StepLoan::end() {
  step_.end();
  for (const auto& vivit : vivits_) vivit->end();
}

py::object call_with_step(const py::object& function, const StepView& step) {
  const auto loan = std::make_shared<StepLoan>(step);
  struct End {
    StepLoan& loan;
    ~End() { loan.end(); }
  } end{*loan};
  return function(loan);
}

namespace {

void bind_groups(py::module_& module) {
  py::class_<Groups>(module, "Groups")
      .def_readonly("names", &Groups::names)
      .def_readonly("members", &Groups::members)
      .def("__len__", &Groups::size);
  py::class_<Activation>(module, "Activation")
      .def_readonly("op", &Activation::op)
      .def_readonly("layer", &Activation::layer)
      .def_readonly("output", &Activation::output)
      .def_readonly("low", &Activation::low)
      .def_readonly("high", &Activation::high)
      .def_readonly("reaches_bounds", &Activation::reaches_bounds);
}

// Throws for a parameter under fully_shard, which has no values to read between passes.
void check_values(const Parameters& parameters) {
  for (const auto& [name, tensor] : parameters) {
    TORCH_CHECK_NOT_IMPLEMENTED(!is_transient(tensor),
                                "step view: fully_shard keeps a piece of '",
                                name,
                                "' on each process between passes, so its values cannot be read "
                                "here; the gradients can");
  }
}

void bind_step(py::module_& module) {
  using S = StepLoan;
  py::class_<S, std::shared_ptr<S>>(module, "StepView")
      .def_property_readonly("step", [](const S& s) { return s.get().step(); })
      .def_property_readonly("batch_size", [](const S& s) { return s.get().batch_size(); })
      .def_property_readonly("seconds", [](const S& s) { return s.get().seconds(); })
      .def_property_readonly("losses", [](const S& s) { return s.get().losses(); })
      .def_property_readonly("loss", [](const S& s) { return s.get().loss(); })
      .def_property_readonly("parameters",
                             [](const S& s) {
                               check_values(s.get().parameters());
                               return named_tensors(s.get().parameters());
                             })
      .def_property_readonly("initial_parameters",
                             [](const S& s) {
                               check_values(s.get().parameters());
                               return s.get().initial_parameters();
                             })
      .def_property_readonly("groups", [](const S& s) { return Groups(s.get().groups()); })
      .def_property_readonly("learning_rates", [](const S& s) { return s.get().learning_rates(); })
      .def_property_readonly("gradients", [](const S& s) { return Gradients(s.get().gradients()); })
      .def_property_readonly("activations", [](const S& s) { return s.get().activations(); })
      .def(
          "curvature",
          [](const S& s, const CurvatureBatch& batch) {
            return Curvature(s.get().curvature(batch));
          },
          py::arg("batch") = CurvatureBatch())
      .def(
          "spectrum",
          [](const S& s, const SpectrumNeed& need) { return Eigenpairs(s.get().spectrum(need)); },
          py::arg("need"))
      .def("vivit", &S::vivit, py::arg("need"))
      .def(
          "histogram",
          [](const S& s, const Bins& bins) { return s.get().histogram(bins); },
          py::arg("bins"))
      .def(
          "joint_histogram",
          [](const S& s, const JointBins& bins) { return s.get().joint_histogram(bins); },
          py::arg("bins"))
      .def(
          "group_sums",
          [](const S& s, const std::vector<Tensor>& per_parameter) {
            return s.get().group_sums(per_parameter);
          },
          py::arg("per_parameter"))
      .def("group_sizes", [](const S& s) { return s.get().group_sizes(); })
      .def("squared_norms", [](const S& s) { return s.get().squared_norms(); })
      .def("mean_dots", [](const S& s) { return s.get().mean_dots(); })
      .def("squared_mean", [](const S& s) { return s.get().squared_mean(); })
      .def("deviations", [](const S& s) { return s.get().deviations(); })
      .def(
          "rounding_share",
          [](const S& s, const Tensor& scatter) { return s.get().rounding_share(scatter); },
          py::arg("scatter"));
}

void bind_update(py::module_& module) {
  using U = Borrowed<UpdateView>;
  py::class_<U, std::shared_ptr<U>>(module, "UpdateView")
      .def_property_readonly("step", [](const U& u) { return u.get().step(); })
      .def_property_readonly("groups", [](const U& u) { return Groups(u.get().groups()); })
      .def_property_readonly("squared_update", [](const U& u) { return u.get().squared_update(); })
      .def_property_readonly("squared_parameters",
                             [](const U& u) { return u.get().squared_parameters(); });
  using C = ChordView;
  const auto both = [](const auto(&ends)[2]) { return std::make_pair(ends[0], ends[1]); };
  py::class_<C>(module, "ChordView")
      .def_readonly("step", &C::step)
      .def_readonly("length", &C::length)
      .def_property_readonly("batch_size", [both](const C& c) { return both(c.batch_size); })
      .def_property_readonly("loss", [both](const C& c) { return both(c.loss); })
      .def_property_readonly("slope", [both](const C& c) { return both(c.slope); })
      .def_property_readonly("loss_variance", [both](const C& c) { return both(c.loss_variance); })
      .def_property_readonly("slope_variance",
                             [both](const C& c) { return both(c.slope_variance); });
}

}  // namespace

void bind_views(py::module_& module) {
  bind_groups(module);
  py::class_<CurvatureBatch>(module, "CurvatureBatch")
      .def(py::init([](int64_t samples, int64_t mc_samples, int64_t max_columns) {
             return CurvatureBatch{samples, mc_samples, max_columns};
           }),
           py::arg("samples") = 0,
           py::arg("mc_samples") = 1,
           py::arg("max_columns") = 0)
      .def_readwrite("samples", &CurvatureBatch::samples)
      .def_readwrite("mc_samples", &CurvatureBatch::mc_samples)
      .def_readwrite("max_columns", &CurvatureBatch::max_columns);
  const SpectrumNeed spectrum;
  py::class_<SpectrumNeed>(module, "SpectrumNeed")
      .def(py::init([](CurvatureKind kind,
                       int64_t samples,
                       double tolerance,
                       int64_t max_products,
                       bool until_proved,
                       int64_t largest,
                       int64_t smallest) {
             return SpectrumNeed{
                 kind, samples, tolerance, max_products, until_proved, largest, smallest};
           }),
           py::arg("kind") = spectrum.kind,
           py::kw_only(),
           py::arg("samples") = spectrum.samples,
           py::arg("tolerance") = spectrum.tolerance,
           py::arg("max_products") = spectrum.max_products,
           py::arg("until_proved") = spectrum.until_proved,
           py::arg("largest") = 1,
           py::arg("smallest") = 0);
  py::class_<VivitNeed>(module, "VivitNeed")
      .def(py::init([](int64_t samples, LossColumns columns, int64_t mc_samples, bool gradients) {
             return VivitNeed{samples, columns, mc_samples, gradients};
           }),
           py::kw_only(),
           py::arg("samples") = 0,
           py::arg("columns") = LossColumns::kExact,
           py::arg("mc_samples") = 1,
           py::arg("gradients") = false);
  bind_step(module);
  bind_update(module);
}

}  // namespace flightdeck::python
