// SPDX-License-Identifier: MIT
// The low-rank structure of the GGN. A Vivit of Python's is its own or one that a step lends.
#include "bind.h"

namespace flightdeck::python {
namespace {

Directions directions_where(const py::function& is_wanted) {
  return Directions::where([condition = Held(is_wanted)](double eigenvalue) {
    const py::gil_scoped_acquire lock;
    return heeding_interrupts([&] { return py::bool_(condition.get()(eigenvalue)).cast<bool>(); });
  });
}

// Takes a number of leading directions, a list of positions, a condition on eigenvalues, or
// Directions.
Directions directions_of(const py::object& given) {
  if (py::isinstance<Directions>(given)) return given.cast<Directions>();
  if (PyCallable_Check(given.ptr()) != 0) return directions_where(given);
  if (py::isinstance<py::list>(given) || py::isinstance<py::tuple>(given)) {
    return Directions::at(given.cast<std::vector<int64_t>>());
  }
  if (PyIndex_Check(given.ptr()) != 0) return Directions(given.cast<int64_t>());
  throw py::type_error(
      "directions are a number of leading ones, a list of positions, a function of the eigenvalue, "
      "or flightdeck.Directions");
}

void bind_directions(py::module_& module) {
  py::class_<Directions>(module, "Directions")
      .def_static(
          "leading", [](int64_t count) { return Directions(count); }, py::arg("count"))
      .def_static("at", &Directions::at, py::arg("positions"))
      .def_static("within", &Directions::within, py::arg("low"), py::arg("high"))
      .def_static("where", &directions_where, py::arg("is_wanted"))
      .def("positions", &Directions::positions, py::arg("eigenvalues"), Unlocked());
  module.def(
      "noise_damping",
      [](const Tensor& gammas, const Tensor& lambdas, double damping, double caution) {
        return noise_damping(gammas, lambdas, {damping, caution});
      },
      py::arg("gammas"),
      py::arg("lambdas"),
      py::kw_only(),
      py::arg("damping") = NoiseDampingOptions().damping,
      py::arg("caution") = NoiseDampingOptions().caution,
      Unlocked());
}

void bind_factor(py::module_& module) {
  module.def(
      "ggn_factor",
      [](const Batch& batch, LossColumns columns, int64_t mc_samples, uint64_t seed) {
        NamedTensors factors;
        for (ParameterFactor& entry : ggn_factor(batch, {columns, mc_samples, seed})) {
          factors.emplace_back(std::move(entry.name), std::move(entry.factor));
        }
        return factors;
      },
      py::arg("batch"),
      py::kw_only(),
      py::arg("columns") = GgnFactorOptions().columns,
      py::arg("mc_samples") = GgnFactorOptions().mc_samples,
      py::arg("seed") = GgnFactorOptions().seed,
      Unlocked());
}

}  // namespace

void bind_vivit(py::module_& module) {
  bind_directions(module);
  bind_factor(module);
  using Lent = Borrowed<Vivit>;
  const auto methods = [](auto& vivit, auto get) {
    using Self = typename std::decay_t<decltype(vivit)>::type;
    vivit.def_property_readonly("groups", [get](const Self& self) { return get(self).groups(); })
        .def_property_readonly("remarks", [get](const Self& self) { return get(self).remarks(); })
        .def(
            "rank",
            [get](const Self& self, size_t group) { return get(self).rank(group); },
            py::arg("group") = 0,
            Unlocked())
        .def(
            "gram",
            [get](const Self& self, size_t group) { return get(self).gram(group); },
            py::arg("group") = 0,
            Unlocked())
        .def(
            "gradient_gram",
            [get](const Self& self, size_t group) { return get(self).gradient_gram(group); },
            py::arg("group") = 0,
            Unlocked())
        .def(
            "gram_eigenvalues",
            [get](const Self& self, size_t group) { return get(self).gram_eigenvalues(group); },
            py::arg("group") = 0,
            Unlocked())
        .def(
            "eigenvalues",
            [get](const Self& self, size_t group) { return get(self).eigenvalues(group); },
            py::arg("group") = 0,
            Unlocked())
        .def(
            "eigenvectors",
            [get](const Self& self, const py::object& which, size_t group) {
              const Directions directions = directions_of(which);
              const py::gil_scoped_release unlocked;
              return get(self).eigenvectors(directions, group);
            },
            py::arg("which"),
            py::arg("group") = 0)
        .def(
            "gammas",
            [get](const Self& self, const py::object& which, size_t group) {
              const Directions directions = directions_of(which);
              const py::gil_scoped_release unlocked;
              return get(self).gammas(directions, group);
            },
            py::arg("which"),
            py::arg("group") = 0)
        .def(
            "lambdas",
            [get](const Self& self, const py::object& which, size_t group) {
              const Directions directions = directions_of(which);
              const py::gil_scoped_release unlocked;
              return get(self).lambdas(directions, group);
            },
            py::arg("which"),
            py::arg("group") = 0)
        .def(
            "newton_step",
            [get](const Self& self,
                  const Tensor& damping,
                  const py::object& which,
                  bool trivial,
                  size_t group) {
              const Directions directions = directions_of(which);
              const py::gil_scoped_release unlocked;
              return get(self).newton_step(damping, directions, trivial, group);
            },
            py::arg("damping"),
            py::arg("which") = -1,
            py::arg("trivial") = false,
            py::arg("group") = 0)
        .def(
            "inverse",
            [get](const Self& self, double damping, size_t group) {
              return std::const_pointer_cast<LinearOperator>(get(self).inverse(damping, group));
            },
            py::arg("damping"),
            py::arg("group") = 0,
            Unlocked())
        .def_static("signal_to_noise", &Vivit::signal_to_noise, py::arg("per_sample"), Unlocked());
  };
  py::class_<Vivit> own(module, "Vivit");
  own.def(py::init([](const Batch& batch,
                      LossColumns columns,
                      int64_t mc_samples,
                      uint64_t seed,
                      std::vector<int64_t> gradient_samples,
                      std::vector<std::vector<size_t>> groups,
                      bool gradients,
                      double rank_tolerance) {
            VivitOptions options;
            options.columns = columns;
            options.mc_samples = mc_samples;
            options.seed = seed;
            options.gradient_samples = std::move(gradient_samples);
            options.groups = std::move(groups);
            options.gradients = gradients;
            options.rank_tolerance = rank_tolerance;
            return std::make_unique<Vivit>(batch, options);
          }),
          py::arg("batch"),
          py::kw_only(),
          py::arg("columns") = LossColumns::kExact,
          py::arg("mc_samples") = VivitOptions().mc_samples,
          py::arg("seed") = 0,
          py::arg("gradient_samples") = std::vector<int64_t>(),
          py::arg("groups") = std::vector<std::vector<size_t>>(),
          py::arg("gradients") = true,
          py::arg("rank_tolerance") = VivitOptions().rank_tolerance,
          Unlocked());
  methods(own, [](const Vivit& self) -> const Vivit& { return self; });
  py::class_<Lent, std::shared_ptr<Lent>> lent(module, "LentVivit");
  methods(lent, [](const Lent& self) -> const Vivit& { return self.get(); });
}

}  // namespace flightdeck::python
