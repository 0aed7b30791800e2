// SPDX-License-Identifier: MIT
#include "cli/bench/launches.h"

#include <cstring>
#include <mutex>

#include <ATen/record_function.h>

#include "base/clock.h"

namespace flightdeck::cli {
namespace {

// Counts operations that LibTorch begins, on any thread. Callbacks are plain functions, so the
// program has only one set of counts.
class OperationCounter {
 public:
  OperationCounter() {
    counts().clear();
    handle_ = at::addGlobalCallback(
        at::RecordFunctionCallback(&begin, &end).scopes({at::RecordScope::FUNCTION}));
  }
  ~OperationCounter() { at::removeCallback(handle_); }
  OperationCounter(const OperationCounter&) = delete;
  OperationCounter& operator=(const OperationCounter&) = delete;

  static std::map<std::string, int64_t> taken() {
    const std::lock_guard<std::mutex> lock(mutex());
    return counts();
  }

 private:
  static std::mutex& mutex() {
    static std::mutex mutex;
    return mutex;
  }
  static std::map<std::string, int64_t>& counts() {
    static std::map<std::string, int64_t> counts;
    return counts;
  }
  static int& depth() {
    thread_local int depth = 0;
    return depth;
  }
  // Returns true for a node of a backward pass. LibTorch calls it one operation, whatever hooks do
  // in it, so only what is in it counts.
  static bool is_engine(const at::RecordFunction& function) {
    return std::strncmp(function.name(), "autograd::engine", 16) == 0;
  }
  static std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction& function) {
    if (is_engine(function)) return nullptr;
    if (depth()++ == 0) {
      const std::lock_guard<std::mutex> lock(mutex());
      ++counts()[function.name()];
    }
    return nullptr;
  }
  static void end(const at::RecordFunction& function, at::ObserverContext*) {
    if (!is_engine(function)) --depth();
  }

  at::CallbackHandle handle_;
};

double ms_since(Clock::time_point start) { return 1e3 * seconds_since(start); }

// Measures times first, since counting takes time itself.
StepWork work_of(const OverheadOptions& options, run::Training& training, Cockpit* cockpit) {
  const int64_t count = options.interval * options.blocks;
  const auto steps = static_cast<double>(count);
  StepWork work;
  take_steps(training, cockpit, options.interval * options.warm_up);
  work.ms = milliseconds(options.training.device,
                         [&] {
                           const Clock::time_point start = Clock::now();
                           take_steps(training, cockpit, count);
                           work.host_ms = ms_since(start) / steps;
                         }) /
            steps;
  if (options.training.device.is_cuda()) {
    if (const std::unique_ptr<DriverCalls> calls = DriverCalls::count()) {
      take_steps(training, cockpit, count);
      const DriverCounts counts = calls->counts();
      work.kernels = static_cast<double>(counts.kernels) / steps;
      work.copies = static_cast<double>(counts.copies) / steps;
      work.waits = static_cast<double>(counts.waits) / steps;
    }
  }
  const OperationCounter counter;
  take_steps(training, cockpit, count);
  for (const auto& [name, operations] : OperationCounter::taken()) {
    work.by_operation[name] = static_cast<double>(operations) / steps;
    work.operations += work.by_operation[name];
  }
  return work;
}

}  // namespace

LaunchCounts count_launches(const OverheadOptions& options,
                            const std::vector<Quantity>& quantities) {
  run::Training plain(options.training), watched(options.training);
  Cockpit cockpit(watched.parameters(), quantities, strict_options(options.grouping));
  LaunchCounts counts;
  counts.plain = work_of(options, plain, nullptr);
  counts.watched = work_of(options, watched, &cockpit);
  return counts;
}

}  // namespace flightdeck::cli
