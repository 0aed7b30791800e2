// SPDX-License-Identifier: MIT
#include "record/tail.h"

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <variant>

#include "base/limits.h"
#include "record/damage.h"
#include "record/entry.h"
#include "record/reading_fault.h"
#include "record/schema.h"

namespace flightdeck::record {

namespace {

// Builds a tail entry by entry.
class TailMaker {
 public:
  TailMaker(Tail& tail, Database* database) : tail_(tail), database_(database) {}

  // Reads the series that the database has.
  void load() {
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
      check(series);
      tail_.index[{series.quantity, series.field, series.group, series.kind}] = tail_.series.size();
      tail_.series.push_back(std::move(series));
    }
    tail_.stored_series = tail_.series;
  }

  void add(const RunInfo& info) { tail_.info = info; }
  void add(const Note& note) {
    take(sizeof(Note) + note.quantity.size() + note.text.size());
    tail_.notes.push_back(note);
  }
  void add(const EndEntry& ending) { tail_.ending = ending.word; }

  void add(StepReadings&& step) {
    if (step.readings.empty()) return;
    for (Reading& reading : step.readings) add(step, std::move(reading));
    tail_.last_step = std::max(tail_.last_step, step.step);
    tail_.last_time = std::max(tail_.last_time, step.time);
  }

 private:
  void check(const SeriesInfo& series) const {
    const size_t place = tail_.series.size() + 1;
    if (series.id != static_cast<int64_t>(place)) {
      damaged("table series has id " + std::to_string(series.id) + " where " +
              std::to_string(place) + " is due");
    }
    check_room();
    const std::string fault = name_fault(series.quantity, series.field, series.group);
    if (!fault.empty()) damaged("series " + std::to_string(place) + " " + fault);
    if (series.count < 0 || (series.count > 0 && series.first_step > series.last_step)) {
      damaged("series " + std::to_string(place) + " has " + std::to_string(series.count) +
              " values from step " + std::to_string(series.first_step) + " to " +
              std::to_string(series.last_step));
    }
  }

  void check_room() const {
    if (tail_.series.size() < limits::kSeries) return;
    damaged("it has more than " + std::to_string(limits::kSeries) + " series");
  }

  void take(size_t bytes) {
    tail_.bytes += static_cast<int64_t>(bytes);
    if (tail_.bytes <= limits::kTailBytes) return;
    throw std::runtime_error("record: the journal has values of more than " +
                             std::to_string(limits::kTailBytes) +
                             " bytes that are not in the database; resume the run with room on "
                             "its disk, so that they get there");
  }

  // Returns the series of a reading. New ones get the numbers that the recorder will give them, by
  // first appearance.
  SeriesInfo& series_of(const Reading& reading) {
    const auto [entry, is_new] = tail_.index.try_emplace(
        Tail::Key(reading.quantity, reading.field, reading.group, reading.kind),
        tail_.series.size());
    if (is_new) {
      check_room();
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
    if (index >= tail_.stored_series.size() || tail_.stored_series[index].count == 0) return false;
    if (step > tail_.stored_series[index].last_step || step < tail_.stored_series[index].first_step)
      return false;
    Statement statement(
        *database_,
        "SELECT 1 FROM " + std::string(table_of(series.kind)) + " WHERE series = ? AND step = ?");
    return statement.bind(1, series.id).bind(2, step).step();
  }

  void add(const StepReadings& step, Reading&& reading) {
    SeriesInfo& series = series_of(reading);
    auto& values = tail_.values[series.id];
    const bool is_new = values.count(step.step) == 0 && !is_stored(series, step.step);
    // This pays for the value and for the node of the map that holds it.
    take(sizeof(TailValue) + 64 + 8 * (reading.list.size() + reading.counts.size()));
    reading.quantity = reading.field = reading.group = std::string();
    values[step.step] = {step.time, std::move(reading)};
    const bool is_first = series.count == 0;
    series.first_step = is_first ? step.step : std::min(series.first_step, step.step);
    series.last_step = is_first ? step.step : std::max(series.last_step, step.step);
    series.count += is_new ? 1 : 0;
  }

  Tail& tail_;
  Database* database_;
};

Progress stored_progress(Database* database) {
  if (database == nullptr) return {};
  Statement row(*database,
                "SELECT journal_generation, journal_offset, entries, last_step, last_time "
                "FROM progress");
  if (!row.step()) throw std::runtime_error("table progress is empty");
  const Progress progress = {
      {row.integer(0), row.integer(1)}, row.integer(2), row.integer(3), row.number(4)};
  const JournalPosition& position = progress.position;
  const bool has_journal = position.generation != kNoJournal;
  if (has_journal && (position.generation < 0 || position.generation > limits::kGenerations ||
                      position.offset < 0)) {
    throw std::runtime_error("record: table progress names byte " +
                             std::to_string(position.offset) + " of journal." +
                             std::to_string(position.generation) + "; the record is damaged");
  }
  return progress;
}

}  // namespace

const SeriesInfo* Tail::find(int64_t series_id) const {
  const bool is_known = series_id >= 1 && series_id <= static_cast<int64_t>(series.size());
  return is_known ? &series[static_cast<size_t>(series_id) - 1] : nullptr;
}

const std::map<int64_t, TailValue>& Tail::values_of(int64_t series_id) const {
  static const std::map<int64_t, TailValue> none;
  const auto found = values.find(series_id);
  return found == values.end() ? none : found->second;
}

std::shared_ptr<const Tail> TailKeeper::look(const Folder& folder,
                                             Database* database,
                                             bool may_lack_journal,
                                             const Patience& patience) {
  const Progress stored = stored_progress(database);
  // Entries that were stored in the meantime are dropped by starting behind them.
  const bool goes_on =
      kept_ && kept_->tail.has_database == (database != nullptr) && kept_->tail.stored == stored;
  try {
    if (!goes_on) start(database, stored);
    if (stored.position.generation == kNoJournal) return lend();
    const bool is_found = extend(folder, database, patience);
    const bool was_removed = !is_found || (database == nullptr && !exists(folder.journal(0)));
    if (was_removed && !(database != nullptr && may_lack_journal)) {
      throw Changed("its journal was removed");
    }
    return lend();
  } catch (...) {
    kept_.reset();
    throw;
  }
}

void TailKeeper::start(Database* database, const Progress& stored) {
  kept_ = std::make_shared<Kept>();
  Tail& tail = kept_->tail;
  tail.has_database = database != nullptr;
  tail.stored = stored;
  tail.end = stored.position;
  tail.last_step = stored.last_step;
  tail.last_time = stored.last_time;
  if (database != nullptr) TailMaker(tail, database).load();
}

// Reads what the journal has gained. Returns false if a file of it is gone.
bool TailKeeper::extend(const Folder& folder, Database* database, const Patience& patience) {
  JournalCursor cursor(folder, kept_->tail.end);
  std::string payload;
  if (!cursor.next(payload)) return cursor.found();
  if (kept_->users.load(std::memory_order_acquire) > 0) {
    const auto copy = std::make_shared<Kept>();
    copy->tail = kept_->tail;
    kept_ = copy;
  }
  TailMaker maker(kept_->tail, database);
  do {
    patience.check();
    std::visit([&](auto&& content) { maker.add(std::move(content)); }, read_entry(payload));
  } while (cursor.next(payload));
  kept_->tail.end = cursor.position();
  return cursor.found();
}

std::shared_ptr<const Tail> TailKeeper::lend() const {
  kept_->users.fetch_add(1, std::memory_order_relaxed);
  return {&kept_->tail,
          [kept = kept_](const Tail*) { kept->users.fetch_sub(1, std::memory_order_release); }};
}

}  // namespace flightdeck::record
