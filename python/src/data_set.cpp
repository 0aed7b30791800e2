// SPDX-License-Identifier: MIT
// Curvature of a whole data set, whose batches a function of Python's makes.
#include "bind.h"

namespace flightdeck::python {
namespace {

BatchSource source_of(const py::object& source) {
  return [function = Held(source)](int64_t k) {
    const py::gil_scoped_acquire lock;
    return heeding_interrupts([&] { return function.get()(k).cast<Batch>(); });
  };
}

std::function<void(const DataSetProgress&)> listener_of(const py::object& on_batch) {
  if (on_batch.is_none()) return {};
  return [function = Held(on_batch)](const DataSetProgress& progress) {
    const py::gil_scoped_acquire lock;
    heeding_interrupts([&] { return function.get()(progress); });
  };
}

}  // namespace

void bind_data_sets(py::module_& module) {
  py::class_<DataSetProgress>(module, "DataSetProgress")
      .def_readonly("product", &DataSetProgress::product)
      .def_readonly("batches", &DataSetProgress::batches)
      .def_readonly("of", &DataSetProgress::of);
  module.def(
      "data_set_operator",
      [](int64_t batches,
         const py::object& source,
         CurvatureKind kind,
         std::vector<std::vector<size_t>> groups,
         const py::object& on_batch,
         std::string folder,
         int64_t keep_every) {
        DataSetOptions options;
        options.groups = std::move(groups);
        options.on_batch = listener_of(on_batch);
        options.folder = std::move(folder);
        options.keep_every = keep_every;
        BatchSource made = source_of(source);
        const py::gil_scoped_release unlocked;
        return std::const_pointer_cast<CurvatureOperator>(
            data_set_operator(batches, std::move(made), kind, options));
      },
      py::arg("batches"),
      py::arg("source"),
      py::arg("kind"),
      py::kw_only(),
      py::arg("groups") = std::vector<std::vector<size_t>>(),
      py::arg("on_batch") = py::none(),
      py::arg("folder") = "",
      py::arg("keep_every") = 0);
}

}  // namespace flightdeck::python
