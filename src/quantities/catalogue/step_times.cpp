// SPDX-License-Identifier: MIT
// Where the time of a step goes, as the clock of the host sees it, and the memory of the process.
#include <algorithm>
#include <cstdio>
#include <optional>
#include <sys/resource.h>
#include <unistd.h>

#include "flightdeck/quantity.h"

namespace flightdeck::quantities {
namespace {

// Returns the bytes in memory now; nothing where the system does not tell.
std::optional<double> resident_bytes() {
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr) return std::nullopt;
  long size = 0, resident = 0;
  const int read = std::fscanf(file, "%ld %ld", &size, &resident);
  std::fclose(file);
  if (read != 2) return std::nullopt;
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

std::optional<double> peak_bytes() {
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) != 0) return std::nullopt;
#ifdef __APPLE__
  return static_cast<double>(usage.ru_maxrss);
#else
  return static_cast<double>(usage.ru_maxrss) * 1024;
#endif
}

struct Before {
  int64_t step = 0;
  StepClock clock;
};

Value times_of(const StepView& step, std::optional<Before>& before) {
  const StepClock clock = step.clock();
  Value value;
  if (before) {
    const auto steps = static_cast<double>(step.step() - before->step);
    const double whole = (clock.begin - before->clock.begin) / steps;
    const double cockpit = (clock.cockpit - before->clock.cockpit) / steps;
    value = Value(whole);
    value.with("cockpit", cockpit);
    // Steps that were not tracked have backward passes of which begin and end are not known.
    if (steps == 1) value.with("between", whole - before->clock.backward - cockpit);
  }
  value.with("backward", clock.backward);
  for (const auto& [name, seconds] : step.phases()) value.with(name, seconds);
  const auto memory = resident_bytes(), peak = peak_bytes();
  if (memory) value.with("memory", *memory);
  // The system updates its two counts at different times.
  if (peak) value.with("memory_peak", std::max(*peak, memory.value_or(0)));
  before = Before{step.step(), clock};
  return value;
}

}  // namespace

Quantity step_times(Settings&) {
  return Quantity("step_times")
      .summary("Seconds per step; the backward pass, the cockpit and the rest as fields; memory")
      .reference("clock of the host: work that a device still does counts where it is waited for")
      .measures_process(true)
      .make([] {
        const auto before = std::make_shared<std::optional<Before>>();
        Quantity::Functions functions;
        functions.compute = [before](const StepView& step) { return times_of(step, *before); };
        return functions;
      });
}

}  // namespace flightdeck::quantities
