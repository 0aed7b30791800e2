// SPDX-License-Identifier: MIT
// What the journal adds to the database, kept from one look to the next so that a look costs what
// is new.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "flightdeck/record.h"
#include "record/folder.h"
#include "record/journal.h"
#include "record/patience.h"
#include "record/sqlite.h"

namespace flightdeck::record {

// Says that a recorder changed the files between two looks, so that one has to look again.
struct Changed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Holds a value that the database does not have yet. Its names are those of the series.
struct TailValue {
  double time = 0;
  Reading reading;
};

// Says how far a database is, as table progress does. Where another run has taken the folder's
// place, the time differs.
struct Progress {
  JournalPosition position;
  int64_t entries = 0;
  int64_t last_step = -1;
  double last_time = 0;

  bool operator==(const Progress& other) const {
    return position == other.position && entries == other.entries && last_step == other.last_step &&
           last_time == other.last_time;
  }
};

// Holds the database's list of series, and what the journal adds to the database.
struct Tail {
  bool has_database = false;
  Progress stored;      // the journal's entries from here
  JournalPosition end;  // to here
  std::optional<RunInfo> info;
  std::optional<std::string> ending;
  std::vector<Note> notes;
  std::vector<SeriesInfo> series;  // of both, by id
  int64_t last_step = -1;          // of both
  double last_time = 0;
  int64_t bytes = 0;  // that notes and values take, about
  std::unordered_map<int64_t, std::map<int64_t, TailValue>> values;  // by series and step

  std::vector<SeriesInfo> stored_series;  // as the database has them
  using Key = std::tuple<std::string, std::string, std::string, ReadingKind>;
  std::map<Key, size_t> index;  // into `series`

  const SeriesInfo* find(int64_t series_id) const;
  // Returns the values by step; none if the journal has none.
  const std::map<int64_t, TailValue>& values_of(int64_t series_id) const;
};

// Keeps the tail. One caller at a time may look, but any thread may use what it gets, which does
// not change.
class TailKeeper {
 public:
  // Returns what belongs to the transaction that `database` is in; null if the journal has
  // everything. With `may_lack_journal` a database without its journal will do.
  std::shared_ptr<const Tail> look(const Folder& folder,
                                   Database* database,
                                   bool may_lack_journal,
                                   const Patience& patience);

 private:
  struct Kept {
    Tail tail;
    std::atomic<int64_t> users{0};
  };
  void start(Database* database, const Progress& stored);
  bool extend(const Folder& folder, Database* database, const Patience& patience);
  std::shared_ptr<const Tail> lend() const;

  std::shared_ptr<Kept> kept_;
};

}  // namespace flightdeck::record
