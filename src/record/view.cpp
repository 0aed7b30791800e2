// SPDX-License-Identifier: MIT
#include "record/view.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <stdexcept>
#include <stdlib.h>
#include <thread>
#include <tuple>

#include "record/entry.h"
#include "record/schema.h"

namespace flightdeck::record {

namespace {

// A recorder changed the files between two looks; look again.
struct Changed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

std::unique_ptr<Database> open_copy(const Folder& folder, View& view) {
  view.copy = std::make_unique<TemporaryFolder>();
  const Folder copy(view.copy->path());
  std::filesystem::copy_file(folder.database(), copy.database());
  std::filesystem::copy_file(folder.wal(), copy.wal());
  return std::make_unique<Database>(copy.database(), Database::Mode::kPlain);
}

// Null if the journal has everything. While a recorder runs, the files are left to SQLite alone:
// closing one by ourselves would drop SQLite's locks on it if the recorder is in this process.
std::unique_ptr<Database> open_database(const Folder& folder, View& view, bool from_copy) {
  // Asked first: what is seen afterwards is at least as new.
  const bool is_running = folder.is_being_written();
  if (!exists(folder.database())) return nullptr;
  const int64_t wal_size = file_size(folder.wal());
  if (is_running && wal_size < 0) {
    // Not used yet, or just folded. The first generation goes before the others.
    if (exists(folder.journal(0))) return nullptr;
    throw Changed("its database is being closed");
  }
  // SQLite gives up on a log that has no page yet ("locking protocol") unless it may write.
  constexpr int64_t kWalHeaderBytes = 32;
  if (!is_running && wal_size <= kWalHeaderBytes) {
    return std::make_unique<Database>(folder.database(), Database::Mode::kImmutable);
  }
  if (exists(folder.shm()) && !from_copy) {
    return std::make_unique<Database>(folder.database(), Database::Mode::kRead);
  }
  if (is_running) throw Changed("its database is being opened");
  // Without the log's index, or where all else failed.
  return open_copy(folder, view);
}

void check_format(const Folder& folder, Database& database) {
  const int64_t application = database.integer("PRAGMA application_id");
  const int64_t format = database.integer("PRAGMA user_version");
  if (application != kApplication) {
    throw std::invalid_argument("record: '" + folder.database() +
                                "' is no run of Flightdeck; name the folder of a run");
  }
  if (format > kFormat) {
    throw std::invalid_argument("record: '" + folder.path() + "' has format " +
                                std::to_string(format) + " but this version reads up to " +
                                std::to_string(kFormat) + "; read it with a newer Flightdeck");
  }
}

ReadingKind kind_of(const std::string& name) {
  for (const ReadingKind kind :
       {ReadingKind::kNumber, ReadingKind::kList, ReadingKind::kHistogram}) {
    if (name == to_string(kind)) return kind;
  }
  throw std::runtime_error("record: unknown kind of series '" + name + "'; the record is damaged");
}

// Builds a tail entry by entry.
class TailMaker {
 public:
  TailMaker(Tail& tail, Database* database) : tail_(tail), database_(database) {
    if (database_ != nullptr) load();
  }

  void add(const RunInfo& info) { tail_.info = info; }
  void add(const Note& note) { tail_.notes.push_back(note); }
  void add(const Ending& ending) { tail_.ending = ending.word; }

  void add(const StepReadings& step) {
    if (step.readings.empty()) return;
    for (const Reading& reading : step.readings) add(step, reading);
    tail_.last_step = std::max(tail_.last_step, step.step);
    tail_.last_time = std::max(tail_.last_time, step.time);
  }

 private:
  using Key = std::tuple<std::string, std::string, std::string, ReadingKind>;

  void load() {
    Statement progress(*database_, "SELECT last_step, last_time FROM progress");
    if (progress.step()) {
      tail_.last_step = progress.integer(0);
      tail_.last_time = progress.number(1);
    }
    Statement rows(*database_,
                   "SELECT id, quantity, field, group_name, kind, count, first_step, last_step "
                   "FROM series ORDER BY id");
    while (rows.step()) {
      SeriesInfo series;
      series.id = rows.integer(0);
      series.quantity = rows.text(1);
      series.field = rows.text(2);
      series.group = rows.text(3);
      series.kind = kind_of(rows.text(4));
      series.count = rows.integer(5);
      series.first_step = rows.integer(6);
      series.last_step = rows.integer(7);
      index_[{series.quantity, series.field, series.group, series.kind}] = tail_.series.size();
      tail_.series.push_back(std::move(series));
    }
    stored_ = tail_.series;
  }

  // New series get the numbers that the recorder will give them: by first appearance.
  SeriesInfo& series_of(const Reading& reading) {
    const auto [entry, is_new] = index_.try_emplace(
        Key(reading.quantity, reading.field, reading.group, reading.kind), tail_.series.size());
    if (is_new) {
      SeriesInfo series;
      series.id = static_cast<int64_t>(tail_.series.size()) + 1;
      series.quantity = reading.quantity;
      series.field = reading.field;
      series.group = reading.group;
      series.kind = reading.kind;
      tail_.series.push_back(std::move(series));
    }
    return tail_.series[entry->second];
  }

  bool is_stored(const SeriesInfo& series, int64_t step) const {
    const size_t index = static_cast<size_t>(series.id) - 1;
    if (index >= stored_.size() || stored_[index].count == 0) return false;
    if (step > stored_[index].last_step || step < stored_[index].first_step) return false;
    Statement statement(
        *database_,
        "SELECT 1 FROM " + std::string(table_of(series.kind)) + " WHERE series = ? AND step = ?");
    return statement.bind(1, series.id).bind(2, step).step();
  }

  void add(const StepReadings& step, const Reading& reading) {
    SeriesInfo& series = series_of(reading);
    auto& values = tail_.values[series.id];
    const bool is_new = values.count(step.step) == 0 && !is_stored(series, step.step);
    values[step.step] = {step.time, reading};
    const bool is_first = series.count == 0;
    series.first_step = is_first ? step.step : std::min(series.first_step, step.step);
    series.last_step = is_first ? step.step : std::max(series.last_step, step.step);
    series.count += is_new ? 1 : 0;
  }

  Tail& tail_;
  Database* database_;
  std::vector<SeriesInfo> stored_;
  std::map<Key, size_t> index_;
};

JournalPosition stored_position(Database* database) {
  if (database == nullptr) return {};
  Statement progress(*database, "SELECT journal_generation, journal_offset FROM progress");
  if (!progress.step()) throw std::runtime_error("table progress is empty");
  return {progress.integer(0), progress.integer(1)};
}

bool is_up_to_date(const Folder& folder, const Tail& tail, const View& view) {
  if (tail.has_database != (view.database != nullptr)) return false;
  if (tail.from != stored_position(view.database.get())) return false;
  if (tail.from.generation == kNoJournal) return true;
  JournalCursor cursor(folder, tail.end);
  std::string payload;
  return !cursor.next(payload) && cursor.found();
}

// `may_lack_journal`: a database without its journal is better than nothing.
std::shared_ptr<const Tail> read_tail(const Folder& folder,
                                      const View& view,
                                      bool may_lack_journal) {
  auto tail = std::make_shared<Tail>();
  tail->has_database = view.database != nullptr;
  tail->from = stored_position(view.database.get());
  tail->end = tail->from;
  TailMaker maker(*tail, view.database.get());
  if (tail->from.generation == kNoJournal) return tail;
  JournalCursor cursor(folder, tail->from);
  std::string payload;
  while (cursor.next(payload)) {
    std::visit([&](const auto& content) { maker.add(content); }, read_entry(payload));
  }
  tail->end = cursor.position();
  const bool was_removed = !cursor.found() || (!view.database && !exists(folder.journal(0)));
  if (was_removed && !(view.database && may_lack_journal)) throw Changed("its journal was removed");
  return tail;
}

// What is done when nobody is there to bring a folder in order.
struct Measures {
  bool may_lack_journal = false;
  bool from_copy = false;
};

View try_to_open(const Folder& folder,
                 const std::shared_ptr<const Tail>& known,
                 const Measures& measures) {
  View view;
  view.database = open_database(folder, view, measures.from_copy);
  if (view.database) {
    view.database->run("BEGIN");
    check_format(folder, *view.database);
  }
  const bool is_known = known && is_up_to_date(folder, *known, view);
  view.tail = is_known ? known : read_tail(folder, view, measures.may_lack_journal);
  return view;
}

}  // namespace

const SeriesInfo* Tail::find(int64_t series_id) const {
  const bool is_known = series_id >= 1 && series_id <= static_cast<int64_t>(series.size());
  return is_known ? &series[static_cast<size_t>(series_id) - 1] : nullptr;
}

TemporaryFolder::TemporaryFolder() {
  path_ = (std::filesystem::temp_directory_path() / "flightdeck.XXXXXX").string();
  if (::mkdtemp(path_.data()) == nullptr) {
    throw std::runtime_error("no temporary folder '" + path_ + "' can be made; set TMPDIR");
  }
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

View open_view(const Folder& folder, const std::shared_ptr<const Tail>& known) {
  // Files change names a few times in the life of a run, each time within milliseconds.
  constexpr int kAttempts = 500;
  constexpr int kPatience = 3;
  std::string problem;
  Measures measures;
  for (int attempt = 0; attempt < kAttempts && !measures.from_copy; ++attempt) {
    const bool is_left_alone = attempt >= kPatience && !folder.is_being_written();
    measures.from_copy = is_left_alone && measures.may_lack_journal;
    measures.may_lack_journal = is_left_alone;
    try {
      return try_to_open(folder, known, measures);
    } catch (const std::runtime_error& error) {
      problem = error.what();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(4));
  }
  throw std::runtime_error("record: '" + folder.path() + "' cannot be read (" + problem +
                           "); check that it is the whole folder of a run");
}

}  // namespace flightdeck::record
