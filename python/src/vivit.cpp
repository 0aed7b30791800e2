// SPDX-License-Identifier: MIT
// The low-rank structure of the GGN. A Vivit of Python's is its own or one that a step lends.
#include "bind.h"

namespace flightdeck::python {

void bind_vivit(py::module_& module) {
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
            [get](const Self& self, int64_t count, size_t group) {
              return get(self).eigenvectors(count, group);
            },
            py::arg("count"),
            py::arg("group") = 0,
            Unlocked())
        .def(
            "gammas",
            [get](const Self& self, int64_t count, size_t group) {
              return get(self).gammas(count, group);
            },
            py::arg("count"),
            py::arg("group") = 0,
            Unlocked())
        .def(
            "lambdas",
            [get](const Self& self, int64_t count, size_t group) {
              return get(self).lambdas(count, group);
            },
            py::arg("count"),
            py::arg("group") = 0,
            Unlocked())
        .def(
            "newton_step",
            [get](const Self& self,
                  const Tensor& damping,
                  int64_t count,
                  bool trivial,
                  size_t group) { return get(self).newton_step(damping, count, trivial, group); },
            py::arg("damping"),
            py::arg("count") = -1,
            py::arg("trivial") = false,
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
