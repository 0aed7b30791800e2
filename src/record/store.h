// SPDX-License-Identifier: MIT
// The writing side of run.sqlite: journal entries in, transactions out.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

#include "record/entry.h"
#include "record/folder.h"
#include "record/journal.h"
#include "record/sqlite.h"
#include "record/stretch_store.h"

namespace flightdeck::record {

// Writes the database. After an exception the object is of no use: make another, which begins at
// the last commit.
class Store {
 public:
  // Opens the run's database, or makes it.
  explicit Store(const Folder& folder);
  ~Store();

  // Returns the place up to where the journal is stored.
  JournalPosition position() const { return position_; }
  int64_t entries() const { return entries_; }
  double start_time();

  void begin();
  void apply(const Entry& entry);
  // Ends the transaction. `position` is behind the last entry applied, the `entries`-th of the run.
  void commit(const JournalPosition& position, int64_t entries);

  // Drops values and notes of this step and later, and how the run ended.
  void forget_from(int64_t step);

  // Makes sure that what was committed outlives a crash of the machine.
  void sync();
  // Turns the database into a single file. Returns false if others kept it from that.
  bool fold();

 private:
  struct Series {
    int64_t id = 0, count = 0, first_step = 0, last_step = 0;
    bool is_changed = false;
    OpenStretch stretch;
  };
  struct Statements;

  void load();
  void apply_entry(const RunInfo& info);
  void apply_entry(const StepReadings& step);
  void apply_entry(const Note& note);
  void apply_entry(const EndEntry& ending);
  Series& series_of(const Reading& reading);
  void store(const StepReadings& step, const Reading& reading);
  void set_meta(const std::string& key, const std::string& value);

  Database database_;
  std::unique_ptr<Statements> statements_;
  std::unordered_map<std::string, Series> series_;
  JournalPosition position_;
  int64_t entries_ = 0;
  int64_t last_step_ = -1;
  double last_time_ = 0;
};

}  // namespace flightdeck::record
