// SPDX-License-Identifier: MIT
// What products alone tell about an operator.
#include "bind.h"

namespace flightdeck::python {
namespace {

void bind_results(py::module_& module) {
  py::class_<Eigenpairs>(module, "Eigenpairs")
      .def_readonly("values", &Eigenpairs::values)
      .def_readonly("vectors", &Eigenpairs::vectors)
      .def_readonly("residuals", &Eigenpairs::residuals)
      .def_readonly("errors", &Eigenpairs::errors)
      .def_readonly("converged", &Eigenpairs::converged)
      .def_readonly("products", &Eigenpairs::products)
      .def_readonly("iterations", &Eigenpairs::iterations)
      .def_readonly("is_finite", &Eigenpairs::is_finite)
      .def_property_readonly("all_converged", &Eigenpairs::all_converged);
  py::class_<SpectralDensity>(module, "SpectralDensity")
      .def_readonly("grid", &SpectralDensity::grid)
      .def_readonly("density", &SpectralDensity::density)
      .def_readonly("nodes", &SpectralDensity::nodes)
      .def_readonly("weights", &SpectralDensity::weights)
      .def_readonly("width", &SpectralDensity::width)
      .def_readonly("products", &SpectralDensity::products)
      .def_readonly("is_finite", &SpectralDensity::is_finite)
      .def("moment", &SpectralDensity::moment, py::arg("power"));
  py::class_<Estimate>(module, "Estimate")
      .def_readonly("value", &Estimate::value)
      .def_readonly("standard_error", &Estimate::standard_error)
      .def_readonly("products", &Estimate::products)
      .def_readonly("exact", &Estimate::exact)
      .def_readonly("is_finite", &Estimate::is_finite);
  py::class_<DiagonalEstimate>(module, "DiagonalEstimate")
      .def_readonly("value", &DiagonalEstimate::value)
      .def_readonly("standard_error", &DiagonalEstimate::standard_error)
      .def_readonly("products", &DiagonalEstimate::products)
      .def_readonly("exact", &DiagonalEstimate::exact)
      .def_readonly("is_finite", &DiagonalEstimate::is_finite);
  py::class_<Solution>(module, "Solution")
      .def_readonly("vectors", &Solution::vectors)
      .def_readonly("residuals", &Solution::residuals)
      .def_readonly("iterations", &Solution::iterations)
      .def_readonly("converged", &Solution::converged)
      .def_readonly("negative_curvature", &Solution::negative_curvature)
      .def_readonly("products", &Solution::products)
      .def_readonly("is_finite", &Solution::is_finite)
      .def_property_readonly("all_converged", &Solution::all_converged);
}

Eigenpairs find_eigenpairs(const LinearOperator& op,
                           int64_t largest,
                           int64_t smallest,
                           double tolerance,
                           double floor,
                           int64_t max_products,
                           bool until_proved,
                           int64_t max_basis,
                           int64_t block,
                           EigenMethod method,
                           const std::optional<Tensor>& start,
                           uint64_t seed) {
  EigenOptions options;
  options.largest = largest;
  options.smallest = smallest;
  options.tolerance = tolerance;
  options.floor = floor;
  options.max_products = max_products;
  options.until_proved = until_proved;
  options.max_basis = max_basis;
  options.block = block;
  options.method = method;
  options.start = or_undefined(start);
  options.seed = seed;
  return eigenpairs(op, options);
}

}  // namespace

void bind_spectra(py::module_& module) {
  bind_results(module);
  const EigenOptions eigen;
  module.def("eigenpairs",
             &find_eigenpairs,
             py::arg("operator"),
             py::kw_only(),
             py::arg("largest") = eigen.largest,
             py::arg("smallest") = eigen.smallest,
             py::arg("tolerance") = eigen.tolerance,
             py::arg("floor") = eigen.floor,
             py::arg("max_products") = eigen.max_products,
             py::arg("until_proved") = eigen.until_proved,
             py::arg("max_basis") = eigen.max_basis,
             py::arg("block") = eigen.block,
             py::arg("method") = eigen.method,
             py::arg("start") = std::nullopt,
             py::arg("seed") = 0,
             Unlocked());
  const DensityOptions density;
  module.def(
      "spectral_density",
      [](const LinearOperator& op,
         int64_t starts,
         int64_t steps,
         int64_t points,
         double width,
         double low,
         double high,
         uint64_t seed) {
        DensityOptions options;
        options.starts = starts;
        options.steps = steps;
        options.points = points;
        options.width = width;
        options.low = low;
        options.high = high;
        options.seed = seed;
        return spectral_density(op, options);
      },
      py::arg("operator"),
      py::kw_only(),
      py::arg("starts") = density.starts,
      py::arg("steps") = density.steps,
      py::arg("points") = density.points,
      py::arg("width") = density.width,
      py::arg("low") = density.low,
      py::arg("high") = density.high,
      py::arg("seed") = 0,
      Unlocked());
  const TraceOptions traced;
  module.def(
      "trace",
      [](const LinearOperator& op,
         int64_t products,
         TraceMethod method,
         int64_t block,
         uint64_t seed) {
        TraceOptions options;
        options.products = products;
        options.method = method;
        options.block = block;
        options.seed = seed;
        return trace(op, options);
      },
      py::arg("operator"),
      py::kw_only(),
      py::arg("products") = traced.products,
      py::arg("method") = traced.method,
      py::arg("block") = traced.block,
      py::arg("seed") = 0,
      Unlocked());
  const DiagonalOptions diagonals;
  module.def(
      "diagonal",
      [](const LinearOperator& op,
         int64_t products,
         DiagonalMethod method,
         int64_t block,
         uint64_t seed) {
        DiagonalOptions options;
        options.products = products;
        options.method = method;
        options.block = block;
        options.seed = seed;
        return diagonal(op, options);
      },
      py::arg("operator"),
      py::kw_only(),
      py::arg("products") = diagonals.products,
      py::arg("method") = diagonals.method,
      py::arg("block") = diagonals.block,
      py::arg("seed") = 0,
      Unlocked());
  const SolveOptions solving;
  module.def(
      "conjugate_gradients",
      [](const LinearOperator& op,
         const Tensor& right_hand_sides,
         double tolerance,
         int64_t max_iterations,
         const std::optional<Tensor>& start,
         const LinearOperator* preconditioner) {
        SolveOptions options;
        options.tolerance = tolerance;
        options.max_iterations = max_iterations;
        options.start = or_undefined(start);
        options.preconditioner = preconditioner;
        return conjugate_gradients(op, right_hand_sides, options);
      },
      py::arg("operator"),
      py::arg("right_hand_sides"),
      py::kw_only(),
      py::arg("tolerance") = solving.tolerance,
      py::arg("max_iterations") = solving.max_iterations,
      py::arg("start") = std::nullopt,
      py::arg("preconditioner") = nullptr,
      Unlocked());
  module.def("subspace_overlap", &subspace_overlap, py::arg("u"), py::arg("v"), Unlocked());
}

}  // namespace flightdeck::python
