// SPDX-License-Identifier: MIT
// A step as a quantity of Python's sees it, as long as the library lends it.
#pragma once

#include "bind.h"

namespace flightdeck::python {

class StepLoan {
 public:
  explicit StepLoan(const StepView& step) : step_(step) {}
  const StepView& get() const { return step_.get(); }
  std::shared_ptr<Borrowed<Vivit>> vivit(const VivitNeed& need);
  void end();

 private:
  Borrowed<StepView> step_;
  std::vector<std::shared_ptr<Borrowed<Vivit>>> vivits_;
};

py::object call_with_step(const py::object& function, const StepView& step);

}  // namespace flightdeck::python
