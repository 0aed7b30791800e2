// SPDX-License-Identifier: MIT
// SQLite with owners and exceptions. Throws std::runtime_error with SQLite's words.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "record/patience.h"

struct sqlite3;
struct sqlite3_stmt;

namespace flightdeck::record {

class Statement;

class Database {
 public:
  enum class Mode {
    kWrite,      // made if missing
    kRead,       // beside a writer or after its death; writes nothing, needs the -shm file
    kImmutable,  // nobody writes; reads the main file alone
    kPlain,      // as SQLite does by itself; may write beside the file
  };
  // Opens the file. A reader of others' files gives its `patience`, which has to outlive the
  // database: then statements end with it, use neither views nor triggers, and return no cell and
  // no more rows than limits.h allows to a file of this size.
  Database(const std::string& path, Mode mode, const Patience* patience = nullptr);

  // Throws std::runtime_error if one of the names is there and is no ordinary table of stored
  // columns.
  void check_tables(const std::vector<std::string>& names) const;

  void run(const std::string& sql);
  // Returns the first column of the first row; 0 if there is none.
  int64_t integer(const std::string& sql);
  std::string text(const std::string& sql);

  sqlite3* handle() const { return handle_.get(); }
  // Returns the most rows that a statement of a reader may have.
  int64_t most_rows() const { return most_rows_; }
  // Throws what went wrong last, or OutOfPatience if that is why.
  [[noreturn]] void fail() const;

 private:
  void distrust(const std::string& path);

  struct Close {
    void operator()(sqlite3* handle) const;
  };
  std::unique_ptr<sqlite3, Close> handle_;
  const Patience* patience_ = nullptr;
  int64_t most_rows_ = std::numeric_limits<int64_t>::max();
};

// Holds a prepared statement: bind everything, then step through the rows. The database outlives
// it.
class Statement {
 public:
  Statement(const Database& database, std::string_view sql);

  // Positions count from 1. Text and blobs are copied.
  Statement& bind(int position, int64_t value);
  // NaN becomes NULL, since SQLite has no NaN.
  Statement& bind(int position, double value);
  Statement& bind(int position, std::string_view text);
  Statement& bind_blob(int position, std::string_view bytes);

  // Returns true while there is a row.
  bool step();
  // Runs a statement without rows, and makes it ready for the next values.
  void run();
  void reset();

  // Columns count from 0.
  int64_t integer(int column) const;
  // Returns NaN for NULL.
  double number(int column) const;
  std::string text(int column) const;
  std::string_view blob(int column) const;  // until the next step

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* handle) const;
  };
  void check(int code) const;
  const Database* database_;
  int64_t rows_ = 0;
  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
};

}  // namespace flightdeck::record
