// SPDX-License-Identifier: MIT
// Saved tensors with hooks of Python's, read inside a backward pass.
#include "bind.h"
#include "graph/apply_node.h"
#include "graph/saved_tensors.h"

namespace flightdeck::python {
namespace {

// This function of the package makes a context in which a saved tensor may be read now and again
// later. It is never dropped, because backward passes may outlive the module.
py::object* prepare = nullptr;

Tensor read_hooked(const compat::ag::SavedVariable& saved, const compat::NodePtr& node) {
  const auto known = compat::hook_and_data(saved);
  if (!known || prepare == nullptr) return read_outside_pass(saved, node);
  const py::gil_scoped_acquire lock;
  const auto object = [](const c10::SafePyObject& safe) {
    return py::reinterpret_borrow<py::object>(safe.ptr(&safe.pyinterpreter()));
  };
  const py::object context = (*prepare)(node->name(), object(known->first), object(known->second));
  context.attr("__enter__")();
  Tensor tensor;
  try {
    const py::gil_scoped_release unlocked;
    tensor = saved.unpack(node);
  } catch (...) {
    context.attr("__exit__")(py::none(), py::none(), py::none());
    throw;
  }
  context.attr("__exit__")(py::none(), py::none(), py::none());
  return tensor;
}

}  // namespace

void bind_saved_tensors(py::module_& module) {
  module.def("is_own_pass", &OwnPass::is_running);
  module.def(
      "prepare_saved_tensors_with",
      [](const py::object& function) {
        delete prepare;
        prepare = new py::object(function);
        set_hooked_reader(&read_hooked);
      },
      py::arg("prepare"));
}

}  // namespace flightdeck::python
