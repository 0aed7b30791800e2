// SPDX-License-Identifier: MIT
// How long a call of a reader may go on without a result, and who may end it earlier.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>

namespace flightdeck::record {

// Says that the call was ended. Trying again would take as long.
struct OutOfPatience : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Patience {
 public:
  using Stop = std::shared_ptr<const std::atomic<bool>>;

  // Starts to count the time. `stop` may be null.
  Patience(double seconds, Stop stop) : seconds_(seconds), stop_(std::move(stop)) { renew(); }

  // Starts to count again, because there was a result.
  void renew() {
    deadline_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                   std::chrono::duration<double>(seconds_));
  }
  bool is_over() const { return is_stopped() || Clock::now() >= deadline_; }
  // Throws OutOfPatience if the time is over.
  void check() const {
    if (is_over()) fail();
  }
  [[noreturn]] void fail() const {
    if (is_stopped()) throw OutOfPatience("reading was stopped");
    throw OutOfPatience("reading took more than " + std::to_string(static_cast<int>(seconds_)) +
                        " s; the record is damaged, or its disk does not answer");
  }

 private:
  using Clock = std::chrono::steady_clock;
  bool is_stopped() const { return stop_ && stop_->load(std::memory_order_relaxed); }

  double seconds_;
  Stop stop_;
  Clock::time_point deadline_;
};

}  // namespace flightdeck::record
