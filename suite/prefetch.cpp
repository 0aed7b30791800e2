// SPDX-License-Identifier: MIT
#include "suite/prefetch.h"

#include <utility>

#include "suite/single_thread.h"

namespace flightdeck::suite {
namespace {

// Handing over a batch of fewer bytes costs more than cutting it.
constexpr size_t kSmallBytes = 64 << 10;

bool is_small(const Batch& batch) {
  return batch.inputs.defined() && batch.inputs.nbytes() <= kSmallBytes;
}

}  // namespace

Prefetch::Prefetch(Batches batches)
    : batches_(std::move(batches)),
      per_epoch_(batches_.per_epoch()),
      epoch_(batches_.epoch()),
      position_(batches_.position()) {
  cut();
  if (!is_small(batch_)) thread_ = std::thread([this] { work(); });
}

Prefetch::~Prefetch() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Prefetch::start_epoch(int64_t epoch) {
  if (epoch == epoch_ && position_ == 0) return;  // that is what is being prepared
  std::unique_lock<std::mutex> lock(mutex_);
  wait_for_batch(lock);
  error_ = nullptr;
  batches_.start_epoch(epoch);
  epoch_ = epoch;
  position_ = 0;
  ask();
}

Batch Prefetch::next() {
  std::unique_lock<std::mutex> lock(mutex_);
  wait_for_batch(lock);
  const std::exception_ptr error = std::exchange(error_, nullptr);
  Batch batch = std::move(batch_);
  if (!error) {
    epoch_ = batches_.epoch();
    position_ = batches_.position();
  }
  ask();
  lock.unlock();
  if (error) std::rethrow_exception(error);
  return batch;
}

void Prefetch::ask() {
  batch_ = Batch();
  is_asked_ = true;
  if (thread_.joinable()) changed_.notify_all();
}

void Prefetch::wait_for_batch(std::unique_lock<std::mutex>& lock) {
  if (thread_.joinable()) {
    changed_.wait(lock, [this] { return !is_asked_; });
  } else if (is_asked_) {
    cut();
  }
}

void Prefetch::cut() {
  try {
    batch_ = batches_.next();
  } catch (...) {
    error_ = std::current_exception();
  }
  is_asked_ = false;
}

void Prefetch::work() {
  // The other cores are left to the training.
  use_single_thread();
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return is_asked_ || is_ending_; });
    if (is_ending_) return;
    lock.unlock();
    Batch batch;
    std::exception_ptr error;
    try {
      batch = batches_.next();
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    batch_ = std::move(batch);
    error_ = error;
    is_asked_ = false;
    changed_.notify_all();
  }
}

}  // namespace flightdeck::suite
