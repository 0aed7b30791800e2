// SPDX-License-Identifier: MIT
// The thread that takes entries from the journal into the database, so that training waits for no
// disk. The journal is its queue: what cannot be stored stays there.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "record/folder.h"
#include "record/journal.h"
#include "record/store.h"

namespace flightdeck::record {

class StoreThread {
 public:
  // `store` is that of a run that goes on. If it is null, the thread makes one when there is
  // something to store.
  StoreThread(Folder folder, int64_t queue_entries, std::unique_ptr<Store> store = nullptr);
  ~StoreThread() { finish({}); }

  // Tells the thread that one more entry is in the journal.
  void add();
  // Waits until no more entries than the queue may hold are left to store, or storing fails.
  // Returns the seconds waited; 0 if there was room.
  double wait_for_room();
  // Returns what went wrong since the last call, for people; empty if nothing.
  std::string take_warning();

  // Stores what is left and ends the thread. `payloads` are entries that the journal could not
  // take. Returns true if everything is stored; then the journal is gone.
  bool finish(std::vector<std::string> payloads);

 private:
  void run();
  bool wait_for_work(std::unique_lock<std::mutex>& lock);
  void store(std::unique_lock<std::mutex>& lock);
  int64_t store_batch(int64_t wanted);
  void remove_stored_generations();
  bool store_rest();
  int64_t pending() const { return added_ - stored_; }

  const Folder folder_;
  const int64_t queue_entries_;
  const int64_t enough_;  // entries that are worth a transaction at once

  mutable std::mutex mutex_;
  std::condition_variable work_, room_;
  int64_t added_ = 0, stored_ = 0;
  bool is_stopping_ = false, is_failing_ = false, has_warned_ = false;
  std::string warning_;

  // Only the thread uses these while it runs.
  std::unique_ptr<Store> store_;
  std::optional<JournalCursor> cursor_;
  int64_t oldest_generation_ = 0;
  std::vector<std::string> rest_;
  bool is_complete_ = false;

  std::thread thread_;
};

}  // namespace flightdeck::record
