// SPDX-License-Identifier: MIT
// C++ exceptions as the fitting exceptions of Python, with the same text. What is not named here is
// pybind11's default: invalid_argument is a ValueError, all else a RuntimeError.
#include <c10/util/Exception.h>

#include "bind.h"

namespace flightdeck::python {
namespace {

// PyTorch's own, which loops catch to go on with a smaller batch. The module holds the class.
PyObject* out_of_memory() {
  return py::object(py::module_::import("torch.cuda").attr("OutOfMemoryError")).ptr();
}

void translate(std::exception_ptr thrown) {
  const auto raise = [](PyObject* type, const c10::Error& error) {
    PyErr_SetString(type, error.what_without_backtrace());
  };
  try {
    if (thrown) std::rethrow_exception(thrown);
  } catch (const c10::IndexError& error) {
    raise(PyExc_IndexError, error);
  } catch (const c10::ValueError& error) {
    raise(PyExc_ValueError, error);
  } catch (const c10::TypeError& error) {
    raise(PyExc_TypeError, error);
  } catch (const c10::NotImplementedError& error) {
    raise(PyExc_NotImplementedError, error);
  } catch (const c10::OutOfMemoryError& error) {
    raise(out_of_memory(), error);
  } catch (const c10::Error& error) {
    raise(PyExc_RuntimeError, error);
  }
}

}  // namespace

void bind_errors(py::module_&) { py::register_exception_translator(&translate); }

}  // namespace flightdeck::python
