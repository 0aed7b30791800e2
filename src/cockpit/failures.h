// SPDX-License-Identifier: MIT
// What happens when a quantity fails: it is switched off, and the run goes on without it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <ATen/core/grad_mode.h>

#include "cockpit/emit.h"
#include "cockpit/output.h"
#include "cockpit/plan.h"

namespace flightdeck {

class Failures {
 public:
  // Tracked quantities and output must outlive this. With `strict` every failure is thrown on.
  Failures(std::vector<TrackedQuantity>& all_tracked, Output& output, bool strict)
      : tracked_(all_tracked), output_(output), is_strict_(strict) {}

  // Switches off those that are on. Is called inside a catch block.
  void switch_off(const std::vector<size_t>& all_tracked, int64_t step);
  // Does the same after a failed pass, for those whose needs it concerns.
  void switch_off_concerned(const std::vector<size_t>& all_tracked,
                            const std::function<bool(const StepNeeds&)>& concerns,
                            const char* pass,
                            int64_t step);

  // Switches off one that failed on another rank. Never throws.
  void switch_off_elsewhere(size_t tracked, int64_t step, const std::string& why);
  // Leaves these on, but without a value this time. Is called inside a catch block, where memory
  // ran out.
  void skip(const std::vector<size_t>& all_tracked, int64_t step);

  // Adds the value that `compute` returns, or switches the tracked quantity off. `step` is the one
  // at which this happens.
  template <typename Compute>
  void attempt(size_t tracked,
               int64_t step,
               const Groups& groups,
               NamedValues& values,
               const Compute& compute) {
    try {
      const at::NoGradGuard no_grad;
      take(tracked, step, groups, values, compute());
    } catch (const c10::OutOfMemoryError&) {
      skip({tracked}, step);
    } catch (...) {
      switch_off({tracked}, step);
    }
  }

  // Returns true if something was switched off and not told yet.
  bool has_news() const { return !news_.empty(); }
  // Tells what was switched off, in one note and one warning for each reason. Never throws.
  void tell() noexcept;

 private:
  // Lists quantities that were switched off for one reason.
  struct Failure {
    int64_t step = 0;
    std::string message;
    std::vector<std::string> quantities, passes;
  };

  void switch_off(size_t tracked, int64_t step, const char* pass);
  void switch_off(size_t tracked, int64_t step, const char* pass, const std::string& message);
  void take(size_t tracked, int64_t step, const Groups& groups, NamedValues& values, Value value);

  std::vector<TrackedQuantity>& tracked_;
  Output& output_;
  bool is_strict_;
  std::vector<Failure> news_;
};

}  // namespace flightdeck
