// SPDX-License-Identifier: MIT
// SQLite with owners and exceptions. Throws std::runtime_error with SQLite's words.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace flightdeck::record {

class Statement;

class Database {
 public:
  enum class Mode {
    kWrite,      ///< made if missing
    kRead,       ///< beside a writer or after its death; writes nothing, needs the -shm file
    kImmutable,  ///< nobody writes; reads the main file alone
    kPlain,      ///< as SQLite does by itself; may write beside the file
  };
  Database(const std::string& path, Mode mode);

  void run(const std::string& sql);
  /// The first column of the first row; 0 if there is none.
  int64_t integer(const std::string& sql);
  std::string text(const std::string& sql);

  sqlite3* handle() const { return handle_.get(); }

 private:
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  std::unique_ptr<sqlite3, Close> handle_;
};

/// A prepared statement: bind everything, then step through the rows.
class Statement {
 public:
  Statement(const Database& database, std::string_view sql);

  // Positions count from 1. Text and blobs are copied.
  Statement& bind(int position, int64_t value);
  /// NaN, which SQLite has not, becomes NULL.
  Statement& bind(int position, double value);
  Statement& bind(int position, std::string_view text);
  Statement& bind_blob(int position, std::string_view bytes);

  /// True while there is a row.
  bool step();
  /// Runs a statement without rows, and makes it ready for the next values.
  void run();
  void reset();

  // Columns count from 0.
  int64_t integer(int column) const;
  /// NULL is NaN.
  double number(int column) const;
  std::string text(int column) const;
  std::string_view blob(int column) const;  ///< until the next step

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* handle) const;
  };
  void check(int code) const;
  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
};

}  // namespace flightdeck::record
