// SPDX-License-Identifier: MIT
// What all files of the binding share. Each area of the library has one file, whose `bind_*` adds
// it to the module; the order of the calls is in module.cpp.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <pybind11/functional.h>
#include <pybind11/stl.h>
#include <torch/csrc/utils/pybind.h>

#include "flightdeck/flightdeck.h"
#include "flightdeck/lamp.h"
#include "words.h"

namespace flightdeck::python {

namespace py = pybind11;

void bind_batch(py::module_& module);
void bind_bench(py::module_& module);
void bind_cockpit(py::module_& module);
void bind_curvature(py::module_& module);
void bind_data_sets(py::module_& module);
void bind_diagnoses(py::module_& module);
void bind_errors(py::module_& module);
void bind_gradients(py::module_& module);
void bind_lamps(py::module_& module);
void bind_operators(py::module_& module);
void bind_quantities(py::module_& module);
void bind_reactions(py::module_& module);
void bind_readings(py::module_& module);
void bind_records(py::module_& module);
void bind_rules(py::module_& module);
void bind_server(py::module_& module);
void bind_saved_tensors(py::module_& module);
void bind_hooks(py::module_& module);
void bind_spectra(py::module_& module);
void bind_tool(py::module_& module);
void bind_views(py::module_& module);
void bind_vivit(py::module_& module);

// Calls that take long let other Python threads run.
using Unlocked = py::call_guard<py::gil_scoped_release>;

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;
Parameters parameters_of(const NamedTensors& named);
NamedTensors named_tensors(const Parameters& parameters);

// Returns a tensor that is not defined for None.
inline Tensor or_undefined(const std::optional<Tensor>& tensor) {
  return tensor.value_or(Tensor());
}

// Holds a Python object that C++ may copy and drop on any thread, with or without the lock. What is
// still held when the interpreter has ended is left alone.
class Held {
 public:
  explicit Held(py::object object)
      : object_(new py::object(std::move(object)), [](py::object* held) {
          if (Py_IsInitialized() == 0) {
            held->release();
            delete held;
            return;
          }
          const py::gil_scoped_acquire lock;
          delete held;
        }) {}
  const py::object& get() const { return *object_; }  // use it only with the lock

 private:
  std::shared_ptr<py::object> object_;
};

// Lends a reference that Python may keep longer than what it refers to. Its use then throws.
template <typename T>
class Borrowed {
 public:
  explicit Borrowed(const T& lent) : lent_(&lent) {}
  const T& get() const {
    if (lent_ == nullptr) {
      throw std::runtime_error(
          "view: what it showed is gone; read it inside the function that is given it, and keep "
          "tensors or numbers instead");
    }
    return *lent_;
  }
  void end() { lent_ = nullptr; }

 private:
  const T* lent_;
};

// Calls `function` with a view that ends with the call.
template <typename T>
py::object call_with_view(const py::object& function, const T& lent) {
  const auto view = std::make_shared<Borrowed<T>>(lent);
  struct End {
    Borrowed<T>& view;
    ~End() { view.end(); }
  } end{*view};
  return function(view);
}

// Runs a function that the library calls. An interrupt inside it is not its failure, and is raised
// again when Python goes on.
template <typename Function>
auto heeding_interrupts(const Function& call) {
  try {
    return call();
  } catch (py::error_already_set& error) {
    if (error.matches(PyExc_KeyboardInterrupt)) PyErr_SetInterrupt();
    throw;
  }
}

// Takes flightdeck.ranks.Ranks; returns null for None, where there is one process.
std::shared_ptr<Ranks> ranks_from(const py::object& given);
// Takes what a quantity of Python's returned: None, a number, a tensor, fields by name, or a Value.
Value value_of(const py::object& returned);
// Takes a text, a number (every so many steps), a list of steps, a function of the step, or
// DueSteps.
DueSteps due_steps_of(const py::object& given);
// Takes names of gradient needs, or StepNeeds.
StepNeeds step_needs_of(const py::object& given);
py::dict readings_dict(const std::vector<Reading>& readings);

}  // namespace flightdeck::python
