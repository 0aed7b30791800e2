// SPDX-License-Identifier: MIT
// Hooks that Python code put on tensors, told apart by whose they are.
#include <string_view>
#include <typeinfo>

#include <torch/csrc/autograd/python_hook.h>

#include "bind.h"
#include "graph/harmless_hooks.h"
#include "graph/transient_parameters.h"

namespace flightdeck::python {
namespace {

// fully_shard hooks what its modules put out, to gather their parameters, and hands the gradient
// on.
constexpr std::string_view kHarmless = "torch.distributed.fsdp.";

// Finds the class by its name, because PyTorch exports no type information of it.
bool is_of_tensor(const compat::ag::FunctionPreHook& hook) {
  return std::string_view(typeid(hook).name()).find("PyFunctionTensorPreHook") !=
         std::string_view::npos;
}

bool is_of_fully_shard(const compat::ag::FunctionPreHook& hook) {
  if (!is_of_tensor(hook)) return false;
  const py::gil_scoped_acquire lock;
  const auto& known = static_cast<const compat::PythonTensorHook&>(hook);
  for (const auto& [key, function] : py::reinterpret_borrow<py::dict>(known.dict)) {
    const py::object module = py::getattr(function, "__module__", py::none());
    if (!py::isinstance<py::str>(module)) return false;
    if (module.cast<std::string>().compare(0, kHarmless.size(), kHarmless) != 0) return false;
  }
  return true;
}

}  // namespace

void bind_hooks(py::module_& module) {
  set_harmless_hooks(&is_of_fully_shard);
  // These are parameters whose memory fully_shard frees between passes: names and whole tensors.
  module.def(
      "add_transient",
      [](const NamedTensors& whole) {
        for (const auto& [name, tensor] : whole) add_transient(name, tensor);
      },
      py::arg("whole"));
}

}  // namespace flightdeck::python
