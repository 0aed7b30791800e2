// SPDX-License-Identifier: MIT
#include "record/schema.h"

#include <stdexcept>

namespace flightdeck::record {

const char* const kSchema = R"sql(
CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE config(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE parameters(
  position INTEGER PRIMARY KEY, name TEXT NOT NULL, shape TEXT NOT NULL, type TEXT NOT NULL);
CREATE TABLE parameter_groups(position INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE quantities(
  position INTEGER PRIMARY KEY, name TEXT NOT NULL, summary TEXT NOT NULL,
  schedule TEXT NOT NULL, settings TEXT NOT NULL, cost TEXT NOT NULL);
CREATE TABLE series(
  id INTEGER PRIMARY KEY, quantity TEXT NOT NULL, field TEXT NOT NULL, group_name TEXT NOT NULL,
  kind TEXT NOT NULL, count INTEGER NOT NULL, first_step INTEGER NOT NULL,
  last_step INTEGER NOT NULL);
CREATE TABLE numbers(
  series INTEGER NOT NULL, step INTEGER NOT NULL, time REAL, value REAL,
  PRIMARY KEY (series, step)) WITHOUT ROWID;
CREATE TABLE lists(
  series INTEGER NOT NULL, step INTEGER NOT NULL, time REAL, value BLOB NOT NULL,
  PRIMARY KEY (series, step)) WITHOUT ROWID;
CREATE TABLE histograms(
  series INTEGER NOT NULL, step INTEGER NOT NULL, time REAL, value BLOB NOT NULL,
  PRIMARY KEY (series, step)) WITHOUT ROWID;
CREATE TABLE stretches(
  series INTEGER NOT NULL, first_step INTEGER NOT NULL, last_step INTEGER NOT NULL,
  count INTEGER NOT NULL, not_a_number INTEGER NOT NULL, first REAL, last REAL, min REAL, max REAL,
  min_step INTEGER NOT NULL, max_step INTEGER NOT NULL,
  PRIMARY KEY (series, first_step)) WITHOUT ROWID;
CREATE TABLE notes(
  id INTEGER PRIMARY KEY, step INTEGER NOT NULL, time REAL, kind TEXT NOT NULL,
  quantity TEXT NOT NULL, text TEXT NOT NULL);
CREATE TABLE progress(
  id INTEGER PRIMARY KEY CHECK (id = 1), journal_generation INTEGER NOT NULL,
  journal_offset INTEGER NOT NULL, entries INTEGER NOT NULL, last_step INTEGER NOT NULL,
  last_time REAL);
INSERT INTO progress VALUES (1, 0, 0, 0, -1, 0);
CREATE VIEW named_numbers AS
  SELECT quantity, group_name, field, step, time, value
  FROM numbers JOIN series ON series.id = numbers.series;
)sql";

const std::vector<std::string> kTables = {"meta",
                                          "config",
                                          "parameters",
                                          "parameter_groups",
                                          "quantities",
                                          "series",
                                          "numbers",
                                          "lists",
                                          "histograms",
                                          "stretches",
                                          "notes",
                                          "progress"};

const char* table_of(ReadingKind kind) {
  switch (kind) {
    case ReadingKind::kNumber:
      return "numbers";
    case ReadingKind::kList:
      return "lists";
    case ReadingKind::kHistogram:
      return "histograms";
  }
  throw std::logic_error("record: a reading of no known kind");
}

ReadingKind kind_of(const std::string& name) {
  for (const ReadingKind kind :
       {ReadingKind::kNumber, ReadingKind::kList, ReadingKind::kHistogram}) {
    if (name == to_string(kind)) return kind;
  }
  throw std::runtime_error("record: unknown kind of series '" + name + "'; the record is damaged");
}

}  // namespace flightdeck::record
