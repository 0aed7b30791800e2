// SPDX-License-Identifier: MIT
#include "record/store.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <thread>

#include "base/shape.h"
#include "record/blobs.h"
#include "record/run_texts.h"
#include "record/schema.h"

namespace flightdeck::record {

namespace {

// Makes the database. The file gets its name when its tables are complete, so that nobody sees half
// a schema.
void make(const Folder& folder) {
  {
    Database database(folder.unnamed_database(), Database::Mode::kWrite);
    database.run("PRAGMA journal_mode = MEMORY");
    database.run("BEGIN; PRAGMA application_id = " + std::to_string(kApplication) +
                 "; PRAGMA user_version = " + std::to_string(kFormat) + ";" + kSchema + "COMMIT");
    database.run("PRAGMA journal_mode = WAL");
  }
  if (std::rename(folder.unnamed_database().c_str(), folder.database().c_str()) != 0) {
    throw std::runtime_error(error_text(errno));
  }
}

void remove_unnamed(const Folder& folder) {
  std::error_code ignored;
  for (const char* part : {"", "-wal", "-shm"}) {
    std::filesystem::remove(folder.unnamed_database() + part, ignored);
  }
}

Database open_or_make(const Folder& folder) {
  if (!exists(folder.database())) {
    remove_unnamed(folder);
    try {
      make(folder);
    } catch (...) {
      remove_unnamed(folder);  // its bytes would stay on the disk
      throw;
    }
  }
  Database database(folder.database(), Database::Mode::kWrite);
  // The database of a run that goes on after its end was folded into one file without a log.
  database.run("PRAGMA journal_mode = WAL");
  database.run("PRAGMA synchronous = NORMAL");
  // A page at the end of a series changes with every transaction and is copied once per checkpoint,
  // which also waits for the disk: a few of 16 MB cost less than many of SQLite's usual 4 MB.
  database.run("PRAGMA wal_autocheckpoint = 4096");
  database.run("PRAGMA journal_size_limit = 16777216");
  return database;
}

std::string key_of(const std::string& quantity,
                   const std::string& field,
                   const std::string& group,
                   const std::string& kind) {
  std::string key;
  for (const std::string* part : {&quantity, &field, &group}) key.append(*part).push_back('\0');
  return key + kind;
}

// Holds the statements of one table.
struct TableStatements {
  TableStatements(const Database& database, ReadingKind kind)
      : put(database,
            "INSERT OR REPLACE INTO " + std::string(table_of(kind)) + " VALUES (?, ?, ?, ?)"),
        find(database,
             "SELECT 1 FROM " + std::string(table_of(kind)) + " WHERE series = ? AND step = ?") {}
  Statement put, find;
};

}  // namespace

struct Store::Statements {
  explicit Statements(const Database& database)
      : tables{TableStatements(database, ReadingKind::kNumber),
               TableStatements(database, ReadingKind::kList),
               TableStatements(database, ReadingKind::kHistogram)},
        put_series(database, "INSERT OR REPLACE INTO series VALUES (?, ?, ?, ?, ?, 0, 0, 0)"),
        update_series(database,
                      "UPDATE series SET count = ?, first_step = ?, last_step = ? WHERE id = ?"),
        put_meta(database, "INSERT OR REPLACE INTO meta VALUES (?, ?)"),
        put_note(database,
                 "INSERT INTO notes(step, time, kind, quantity, text) VALUES (?, ?, ?, ?, ?)"),
        put_progress(database, "INSERT OR REPLACE INTO progress VALUES (1, ?, ?, ?, ?, ?)"),
        stretches(database) {}

  TableStatements tables[3];
  Statement put_series, update_series, put_meta, put_note, put_progress;
  StretchStore stretches;
};

Store::Store(const Folder& folder)
    : database_(open_or_make(folder)), statements_(std::make_unique<Statements>(database_)) {
  load();
}

Store::~Store() = default;

void Store::load() {
  Statement progress(database_, "SELECT * FROM progress");
  if (progress.step()) {
    position_ = {progress.integer(1), progress.integer(2)};
    entries_ = progress.integer(3);
    last_step_ = progress.integer(4);
    last_time_ = progress.number(5);
  }
  series_.clear();
  Statement rows(database_, "SELECT * FROM series");
  while (rows.step()) {
    const int64_t id = rows.integer(0);
    series_[key_of(rows.text(1), rows.text(2), rows.text(3), rows.text(4))] = {
        id,
        rows.integer(5),
        rows.integer(6),
        rows.integer(7),
        false,
        statements_->stretches.load(id, kind_of(rows.text(4)))};
  }
}

// Drops values of this step and later. A series without values stays, so that ids have no gaps.
void Store::forget_from(int64_t step) {
  const auto run = [&](const std::string& sql) { Statement(database_, sql).bind(1, step).run(); };
  for (const ReadingKind kind :
       {ReadingKind::kNumber, ReadingKind::kList, ReadingKind::kHistogram}) {
    const std::string table = table_of(kind);
    run("DELETE FROM " + table + " WHERE step >= ?");
    database_.run(
        "UPDATE series SET (count, first_step, last_step) = (SELECT COUNT(*), "
        "IFNULL(MIN(step), 0), IFNULL(MAX(step), 0) FROM " +
        table + " WHERE series = series.id) WHERE kind = '" + to_string(kind) + "'");
  }
  run("DELETE FROM stretches WHERE last_step >= ?");
  run("DELETE FROM notes WHERE step >= ?");
  database_.run("DELETE FROM meta WHERE key = 'ending'");
  load();
  last_step_ = -1;
  for (const auto& [key, series] : series_) {
    if (series.count > 0) last_step_ = std::max(last_step_, series.last_step);
  }
}

double Store::start_time() {
  Statement row(database_, "SELECT value FROM meta WHERE key = 'start_time'");
  return row.step() ? row.number(0) : 0;
}

void Store::begin() { database_.run("BEGIN IMMEDIATE"); }

void Store::commit(const JournalPosition& position, int64_t entries) {
  for (auto& [key, series] : series_) {
    if (!series.is_changed) continue;
    series.is_changed = false;
    statements_->stretches.settle(series.stretch);
    statements_->update_series.bind(1, series.count)
        .bind(2, series.first_step)
        .bind(3, series.last_step)
        .bind(4, series.id)
        .run();
  }
  statements_->put_progress.bind(1, position.generation)
      .bind(2, position.offset)
      .bind(3, entries)
      .bind(4, last_step_)
      .bind(5, last_time_)
      .run();
  database_.run("COMMIT");
  position_ = position;
  entries_ = entries;
}

void Store::apply(const Entry& entry) {
  std::visit([this](const auto& content) { apply_entry(content); }, entry);
}

void Store::set_meta(const std::string& key, const std::string& value) {
  statements_->put_meta.bind(1, key).bind(2, value).run();
}

void Store::apply_entry(const RunInfo& info) {
  for (const char* table : {"config", "parameters", "parameter_groups", "quantities"}) {
    database_.run("DELETE FROM " + std::string(table));
  }
  statements_->put_meta.bind(1, "start_time").bind(2, info.start_time).run();
  for (const auto& each : run_texts(info)) set_meta(each.name, *each.text);
  Statement config(database_, "INSERT INTO config VALUES (?, ?)");
  for (const auto& [key, value] : info.config) config.bind(1, key).bind(2, value).run();
  Statement parameters(database_, "INSERT INTO parameters(name, shape, type) VALUES (?, ?, ?)");
  for (const ParameterInfo& parameter : info.parameters) {
    parameters.bind(1, parameter.name)
        .bind(2, to_string(parameter.shape))
        .bind(3, parameter.type)
        .run();
  }
  Statement groups(database_, "INSERT INTO parameter_groups(name) VALUES (?)");
  for (const std::string& group : info.groups) groups.bind(1, group).run();
  Statement quantities(database_,
                       "INSERT INTO quantities(name, summary, schedule, settings, cost) "
                       "VALUES (?, ?, ?, ?, ?)");
  for (const QuantityInfo& quantity : info.quantities) {
    int column = 0;
    for (const std::string* text : quantity_texts(quantity)) quantities.bind(++column, *text);
    quantities.run();
  }
}

void Store::apply_entry(const StepReadings& step) {
  if (step.readings.empty()) return;
  for (const Reading& reading : step.readings) store(step, reading);
  last_step_ = std::max(last_step_, step.step);
  last_time_ = std::max(last_time_, step.time);
}

void Store::apply_entry(const Note& note) {
  statements_->put_note.bind(1, note.step)
      .bind(2, note.time)
      .bind(3, std::string_view(to_string(note.kind)))
      .bind(4, note.quantity)
      .bind(5, note.text)
      .run();
}

void Store::apply_entry(const EndEntry& ending) { set_meta("ending", ending.word); }

Store::Series& Store::series_of(const Reading& reading) {
  const std::string kind = to_string(reading.kind);
  const auto [entry, is_new] =
      series_.try_emplace(key_of(reading.quantity, reading.field, reading.group, kind));
  Series& series = entry->second;
  if (is_new) {
    series.id = static_cast<int64_t>(series_.size());
    series.stretch.series = series.id;
    series.stretch.kind = reading.kind;
    statements_->put_series.bind(1, series.id)
        .bind(2, reading.quantity)
        .bind(3, reading.field)
        .bind(4, reading.group)
        .bind(5, kind)
        .run();
  }
  return series;
}

void Store::store(const StepReadings& step, const Reading& reading) {
  Series& series = series_of(reading);
  TableStatements& table = statements_->tables[static_cast<size_t>(reading.kind)];
  // A later step than the last one of the series is new; an earlier one may replace a value.
  const bool is_last = series.count == 0 || step.step > series.last_step;
  bool is_new = is_last;
  if (!is_new) {
    is_new = !table.find.bind(1, series.id).bind(2, step.step).step();
    table.find.reset();
  }
  table.put.bind(1, series.id).bind(2, step.step).bind(3, step.time);
  switch (reading.kind) {
    case ReadingKind::kNumber:
      table.put.bind(4, reading.number);
      break;
    case ReadingKind::kList:
      table.put.bind_blob(4, list_blob(reading.list));
      break;
    case ReadingKind::kHistogram:
      table.put.bind_blob(4, histogram_blob(reading));
      break;
  }
  table.put.run();
  if (is_last) {
    statements_->stretches.append(series.stretch, step.step, reading.number);
  } else {
    statements_->stretches.touch(series.stretch, step.step);
  }
  series.first_step = series.count == 0 ? step.step : std::min(series.first_step, step.step);
  series.last_step = series.count == 0 ? step.step : std::max(series.last_step, step.step);
  series.count += is_new ? 1 : 0;
  series.is_changed = true;
}

void Store::sync() { database_.run("PRAGMA wal_checkpoint(PASSIVE)"); }

bool Store::fold() {
  statements_.reset();
  // Moves everything into the main file, even if the change of mode below is refused.
  database_.run("PRAGMA wal_checkpoint(TRUNCATE)");
  // Readers are connected for the length of one call; SQLite itself does not wait for them here.
  for (int attempt = 0; attempt < 100; ++attempt) {
    try {
      if (database_.text("PRAGMA journal_mode = DELETE") == "delete") return true;
    } catch (const std::runtime_error&) {
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return false;
}

}  // namespace flightdeck::record
