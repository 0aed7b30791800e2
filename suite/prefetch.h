// SPDX-License-Identifier: MIT
// Prepares batches on a thread of its own, so that loading and training overlap.
#pragma once

#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "suite/batches.h"

namespace flightdeck::suite {

/// Gives the same batches in the same order as `Batches`: one is prepared while the caller works on
/// the one before. Small ones are prepared when they are asked for, which is cheaper. It may be
/// used by one thread of the caller's.
class Prefetch {
 public:
  explicit Prefetch(Batches batches);
  ~Prefetch();
  Prefetch(const Prefetch&) = delete;
  Prefetch& operator=(const Prefetch&) = delete;

  int64_t per_epoch() const { return per_epoch_; }
  int64_t epoch() const { return epoch_; }        ///< of the batch that `next` returns
  int64_t position() const { return position_; }  ///< within the epoch, of the batch `next` returns

  /// Goes to the start of this epoch.
  void start_epoch(int64_t epoch);
  /// Returns the next batch. What its preparation threw is thrown here; the call after that tries
  /// again.
  Batch next();

 private:
  void work();
  void cut();  // on the caller's thread
  void ask();  // with the lock held
  void wait_for_batch(std::unique_lock<std::mutex>& lock);

  Batches batches_;  // the thread's while a batch is asked for, else the caller's
  const int64_t per_epoch_;
  int64_t epoch_, position_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_asked_ = false, is_ending_ = false;
  Batch batch_;
  std::exception_ptr error_;
  std::thread thread_;  // last: it uses the rest
};

}  // namespace flightdeck::suite
