// SPDX-License-Identifier: MIT
// Diagonals, traces and Kronecker factors.
#include "bind.h"

namespace flightdeck::python {
namespace {

using P = ParameterCurvature;

Tensor P::*curvature_field(const std::string& name) {
  const std::pair<const char*, Tensor P::*> fields[] = {
      {"diag_ggn", &P::diag_ggn},
      {"diag_ggn_mc", &P::diag_ggn_mc},
      {"diag_hessian", &P::diag_hessian},
      {"diag_ggn_per_sample", &P::diag_ggn_per_sample},
      {"diag_ggn_mc_per_sample", &P::diag_ggn_mc_per_sample},
      {"diag_hessian_per_sample", &P::diag_hessian_per_sample},
      {"trace_ggn", &P::trace_ggn},
      {"trace_ggn_mc", &P::trace_ggn_mc},
      {"trace_hessian", &P::trace_hessian}};
  for (const auto& [word, field] : fields) {
    if (name == word) return field;
  }
  throw py::value_error("curvature has no field '" + name + "'");
}

void bind_kronecker(py::module_& module) {
  using F = KroneckerFactors;
  py::class_<F>(module, "KroneckerFactors")
      .def(py::init([](const Tensor& output, const std::optional<Tensor>& input) {
             F factors;
             factors.output = output;
             factors.input = or_undefined(input);
             return factors;
           }),
           py::arg("output"),
           py::arg("input") = std::nullopt)
      .def_readonly("output", &F::output)
      .def_readonly("input", &F::input)
      .def_readonly("output_basis", &F::output_basis)
      .def_readonly("input_basis", &F::input_basis)
      .def_readonly("corrected", &F::corrected);
  module.def(
      "kronecker_operator",
      [](const F& factors) {
        return std::const_pointer_cast<LinearOperator>(kronecker_operator(factors));
      },
      py::arg("factors"),
      Unlocked());
  module.def(
      "kronecker_inverse",
      [](const F& factors, double damping, DampingSplit split) {
        return std::const_pointer_cast<LinearOperator>(kronecker_inverse(factors, damping, split));
      },
      py::arg("factors"),
      py::arg("damping"),
      py::arg("split") = DampingSplit::kTrace,
      Unlocked());
}

// Returns None for a parameter without such structure.
template <KroneckerFactors P::*field>
std::optional<KroneckerFactors> factors_of(const P& parameter) {
  const KroneckerFactors& factors = parameter.*field;
  return factors.defined() ? std::make_optional(factors) : std::nullopt;
}

void bind_curvature_answers(py::module_& module) {
  py::class_<P>(module, "ParameterCurvature")
      .def_readonly("name", &P::name)
      .def_readonly("diag_ggn", &P::diag_ggn)
      .def_readonly("diag_ggn_mc", &P::diag_ggn_mc)
      .def_readonly("diag_hessian", &P::diag_hessian)
      .def_readonly("diag_ggn_per_sample", &P::diag_ggn_per_sample)
      .def_readonly("diag_ggn_mc_per_sample", &P::diag_ggn_mc_per_sample)
      .def_readonly("diag_hessian_per_sample", &P::diag_hessian_per_sample)
      .def_readonly("trace_ggn", &P::trace_ggn)
      .def_readonly("trace_ggn_mc", &P::trace_ggn_mc)
      .def_readonly("trace_hessian", &P::trace_hessian)
      .def_property_readonly("kfac", &factors_of<&P::kfac>)
      .def_property_readonly("kflr", &factors_of<&P::kflr>)
      .def_property_readonly("kfra", &factors_of<&P::kfra>);
  py::class_<Curvature>(module, "Curvature")
      .def_readonly("batch_size", &Curvature::batch_size)
      .def_readonly("parameters", &Curvature::parameters)
      .def_readonly("total", &Curvature::total)
      .def_readonly("coverage", &Curvature::coverage)
      .def_readonly("remarks", &Curvature::remarks)
      .def("__getitem__", &Curvature::at, py::arg("name"), py::return_value_policy::copy)
      .def("__len__", [](const Curvature& all) { return all.parameters.size(); })
      .def(
          "__iter__",
          [](const Curvature& all) {
            return py::make_iterator(all.parameters.begin(), all.parameters.end());
          },
          py::keep_alive<0, 1>())
      .def(
          "concatenated",
          [](const Curvature& all, const std::string& field) {
            return all.concatenated(curvature_field(field));
          },
          py::arg("field"));
}

}  // namespace

void bind_curvature(py::module_& module) {
  bind_kronecker(module);
  bind_curvature_answers(module);
  const auto define = [&](const char* name, auto ask) {
    module.def(
        name,
        [ask](const Batch& batch,
              CurvatureNeeds what,
              int64_t mc_samples,
              uint64_t seed,
              WeightSharing weight_sharing,
              bool ekfac,
              int64_t max_slow_entries,
              int64_t max_columns,
              const py::object& on_columns) {
          CurvatureOptions options;
          options.mc_samples = mc_samples;
          options.seed = seed;
          options.weight_sharing = weight_sharing;
          options.ekfac = ekfac;
          options.max_slow_entries = max_slow_entries;
          options.max_columns = max_columns;
          if (!on_columns.is_none()) {
            options.on_columns = [function = Held(on_columns)](int64_t done, int64_t columns) {
              const py::gil_scoped_acquire lock;
              heeding_interrupts([&] { return function.get()(done, columns); });
            };
          }
          const py::gil_scoped_release unlocked;
          return ask(batch, what, options);
        },
        py::arg("batch"),
        py::arg("what"),
        py::kw_only(),
        py::arg("mc_samples") = CurvatureOptions().mc_samples,
        py::arg("seed") = 0,
        py::arg("weight_sharing") = WeightSharing::kPatchSums,
        py::arg("ekfac") = false,
        py::arg("max_slow_entries") = CurvatureOptions().max_slow_entries,
        py::arg("max_columns") = CurvatureOptions().max_columns,
        py::arg("on_columns") = py::none());
  };
  define("curvature", [](const Batch& batch, CurvatureNeeds what, const CurvatureOptions& options) {
    return curvature(batch, what, options);
  });
  define("curvature_coverage",
         [](const Batch& batch, CurvatureNeeds what, const CurvatureOptions& options) {
           return curvature_coverage(batch, what, options);
         });
}

}  // namespace flightdeck::python
