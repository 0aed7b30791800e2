// SPDX-License-Identifier: MIT
// What one call of a reader sees: a transaction of the database and the journal's entries behind
// it. Nothing in the run's folder is written, created or locked.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "flightdeck/record.h"
#include "record/folder.h"
#include "record/journal.h"
#include "record/sqlite.h"

namespace flightdeck::record {

/// A value that the database does not have yet.
struct TailValue {
  double time = 0;
  Reading reading;
};

/// The database's list of series, and what the journal adds to the database.
struct Tail {
  bool has_database = false;
  JournalPosition from, end;  ///< the journal's entries between them
  std::optional<RunInfo> info;
  std::optional<std::string> ending;
  std::vector<Note> notes;
  std::vector<SeriesInfo> series;  ///< of both, by id
  int64_t last_step = -1;          ///< of both
  double last_time = 0;
  std::unordered_map<int64_t, std::map<int64_t, TailValue>> values;  ///< by series and step

  const SeriesInfo* find(int64_t series_id) const;
};

/// A folder of temporary files; removed with its contents.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

struct View {
  std::unique_ptr<TemporaryFolder> copy;  ///< where the database could not be read in place
  std::unique_ptr<Database> database;     ///< in a transaction; null if the journal has everything
  std::shared_ptr<const Tail> tail;
};

/// `known` is taken over if nothing has changed since it was made; it may be null.
View open_view(const Folder& folder, const std::shared_ptr<const Tail>& known);

}  // namespace flightdeck::record
