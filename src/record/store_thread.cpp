// SPDX-License-Identifier: MIT
#include "record/store_thread.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <stdexcept>
#include <unistd.h>
#include <utility>

#include "record/schema.h"

namespace flightdeck::record {

namespace {

using std::chrono::milliseconds;

// A transaction rewrites the last page of every series, whether it adds one step or a hundred. The
// journal is read by readers too, so nothing is lost by collecting.
constexpr milliseconds kCollect(200);
constexpr milliseconds kRetry(1000);
constexpr int64_t kMostInOneTransaction = 1024;

}  // namespace

StoreThread::StoreThread(Folder folder, int64_t queue_entries, std::unique_ptr<Store> store)
    : folder_(std::move(folder)),
      queue_entries_(std::max<int64_t>(queue_entries, 1)),
      enough_(std::max<int64_t>(queue_entries / 2, 1)),
      added_(store ? store->entries() : 0),
      stored_(added_),
      store_(std::move(store)) {
  if (store_) cursor_.emplace(folder_, store_->position());
  thread_ = std::thread([this] { run(); });
}

void StoreThread::add() {
  const std::lock_guard<std::mutex> lock(mutex_);
  ++added_;
  // The thread sleeps on between the two, since a wake-up per step would take time from the
  // training.
  if (pending() == 1 || pending() >= enough_) work_.notify_one();
}

double StoreThread::wait_for_room() {
  std::unique_lock<std::mutex> lock(mutex_);
  const auto has_room = [this] { return pending() <= queue_entries_ || is_failing_; };
  if (has_room()) return 0;
  const auto start = std::chrono::steady_clock::now();
  room_.wait(lock, has_room);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::string StoreThread::take_warning() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return std::exchange(warning_, {});
}

bool StoreThread::finish(std::vector<std::string> payloads) {
  if (!thread_.joinable()) return is_complete_;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    rest_ = std::move(payloads);
    is_stopping_ = true;
    work_.notify_one();
  }
  thread_.join();
  return is_complete_;
}

// Returns false when the thread is to end.
bool StoreThread::wait_for_work(std::unique_lock<std::mutex>& lock) {
  work_.wait(lock, [this] { return is_stopping_ || pending() > 0; });
  work_.wait_for(lock, is_failing_ ? kRetry : kCollect, [&] {
    return is_stopping_ || (!is_failing_ && pending() >= enough_);
  });
  return !is_stopping_;
}

void StoreThread::run() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (wait_for_work(lock)) store(lock);
  // This makes one last attempt, even if storing fails.
  do {
    store(lock);
  } while (pending() > 0 && !is_failing_);
  lock.unlock();
  is_complete_ = !is_failing_ && store_rest();
}

void StoreThread::store(std::unique_lock<std::mutex>& lock) {
  const int64_t wanted = std::min(pending(), kMostInOneTransaction);
  std::string problem;
  int64_t stored = stored_;
  lock.unlock();
  try {
    stored = store_batch(wanted);
  } catch (const std::exception& error) {
    problem = error.what();
    cursor_.reset();
    store_.reset();
  }
  lock.lock();
  stored_ = stored;
  is_failing_ = !problem.empty();
  if (is_failing_ && !has_warned_) {
    has_warned_ = true;
    warning_ =
        "record: '" + folder_.database() + "' cannot be written (" + problem +
        "); training goes on, values are kept in the journal beside it and stored when that "
        "is possible; should the journal fail too, the record will say which steps are missing";
  }
  room_.notify_all();
}

// Returns how many entries of the run are stored.
int64_t StoreThread::store_batch(int64_t wanted) {
  if (!store_) {
    store_ = std::make_unique<Store>(folder_);
    cursor_.emplace(folder_, store_->position());
    // If an earlier attempt failed, nobody knows how much of it reached the database. The database
    // itself says where to go on.
    return store_->entries();
  }
  if (wanted == 0) return store_->entries();
  store_->begin();
  std::string payload;
  for (int64_t i = 0; i < wanted; ++i) {
    if (!cursor_->next(payload)) {
      throw std::runtime_error("the journal '" + folder_.journal(cursor_->position().generation) +
                               "' has lost entries");
    }
    store_->apply(read_entry(payload));
  }
  store_->commit(cursor_->position(), store_->entries() + wanted);
  remove_stored_generations();
  return store_->entries();
}

void StoreThread::remove_stored_generations() {
  const int64_t current = cursor_->position().generation;
  if (oldest_generation_ == current) return;
  // Without this a crash of the machine could lose the commit but not the removal.
  store_->sync();
  for (; oldest_generation_ < current; ++oldest_generation_) {
    ::unlink(folder_.journal(oldest_generation_).c_str());
  }
}

bool StoreThread::store_rest() {
  try {
    store_->begin();
    for (const std::string& payload : rest_) store_->apply(read_entry(payload));
    store_->commit({kNoJournal, 0}, store_->entries() + static_cast<int64_t>(rest_.size()));
    const int64_t last_generation = cursor_->position().generation;
    store_->fold();
    store_.reset();
    // The oldest goes first, so that a reader that still finds it finds the later ones, too.
    for (; oldest_generation_ <= last_generation; ++oldest_generation_) {
      ::unlink(folder_.journal(oldest_generation_).c_str());
    }
    return true;
  } catch (const std::exception& error) {
    store_.reset();
    const std::lock_guard<std::mutex> lock(mutex_);
    warning_ = "record: '" + folder_.database() + "' could not be completed (" + error.what() +
               "); the journal beside it has been kept and is read with it";
    return false;
  }
}

}  // namespace flightdeck::record
