// SPDX-License-Identifier: MIT
#include "record/sqlite.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sqlite3.h>
#include <stdexcept>
#include <utility>

#include "base/limits.h"
#include "record/file.h"

namespace flightdeck::record {

namespace {

// Escapes characters that end or escape a part of a URI.
std::string uri_path(const std::string& path) {
  std::string out;
  for (const char character : path) {
    if (character == '%' || character == '?' || character == '#') {
      char escape[4];
      sqlite3_snprintf(sizeof escape, escape, "%%%02X", static_cast<unsigned>(character));
      out += escape;
    } else {
      out += character;
    }
  }
  return out;
}

const char* parameters(Database::Mode mode) {
  switch (mode) {
    case Database::Mode::kWrite:
      return "mode=rwc";
    case Database::Mode::kRead:
      return "mode=ro&readonly_shm=1";
    case Database::Mode::kImmutable:
      return "mode=ro&immutable=1";
    case Database::Mode::kPlain:
      return "mode=rw";
  }
  return "";
}

// SQLite's machine runs this many instructions between two looks at the time, well below a
// millisecond.
constexpr int kInstructions = 10000;

int is_over(void* patience) { return static_cast<const Patience*>(patience)->is_over() ? 1 : 0; }

// Waits for a lock that a checkpoint of a recorder or a foreign program may hold for a moment.
int wait_for_lock(void* patience, int attempt) {
  constexpr int kAttempts = 500, kMilliseconds = 10;
  if (attempt >= kAttempts || is_over(patience) != 0) return 0;
  sqlite3_sleep(kMilliseconds);
  return 1;
}

}  // namespace

void Database::Close::operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
void Statement::Finalize::operator()(sqlite3_stmt* handle) const { sqlite3_finalize(handle); }

Database::Database(const std::string& path, Mode mode, const Patience* patience) {
  // An absolute path gets an empty authority, because it may begin with two slashes itself.
  const std::string scheme = path.rfind('/', 0) == 0 ? "file://" : "file:";
  const std::string uri = scheme + uri_path(path) + "?" + parameters(mode);
  const int access = mode == Mode::kWrite   ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                     : mode == Mode::kPlain ? SQLITE_OPEN_READWRITE
                                            : SQLITE_OPEN_READONLY;
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(
      uri.c_str(), &handle, access | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nullptr);
  handle_.reset(handle);
  patience_ = patience;
  if (code != SQLITE_OK) fail();
  if (patience != nullptr) {
    distrust(path);
  } else {
    sqlite3_busy_timeout(handle, 5000);
  }
}

void Database::distrust(const std::string& path) {
  for (const auto& [option, value] : {std::pair{SQLITE_DBCONFIG_DEFENSIVE, 1},
                                      std::pair{SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
                                      std::pair{SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
                                      std::pair{SQLITE_DBCONFIG_ENABLE_VIEW, 0}}) {
    sqlite3_db_config(handle(), option, value, nullptr);
  }
  sqlite3_limit(handle(), SQLITE_LIMIT_LENGTH, static_cast<int>(limits::kCellBytes));
  auto* patience = const_cast<Patience*>(patience_);
  sqlite3_progress_handler(handle(), kInstructions, is_over, patience);
  sqlite3_busy_handler(handle(), wait_for_lock, patience);
  // A damaged tree whose pages point to each other in circles has rows without end.
  const int64_t bytes =
      std::max<int64_t>(0, file_size(path)) + std::max<int64_t>(0, file_size(path + "-wal"));
  most_rows_ = bytes / limits::kRowBytes;
}

void Database::check_tables(const std::vector<std::string>& names) const {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "'" : ", '") + name + "'";
  // The names are compared in lower case, because SQLite takes SERIES for series.
  Statement odd(*this,
                "SELECT name FROM sqlite_master AS m WHERE lower(name) IN (" + list +
                    ") AND (type <> 'table' OR rootpage = 0 OR EXISTS (SELECT 1 FROM "
                    "pragma_table_xinfo(m.name) WHERE hidden <> 0))");
  if (!odd.step()) return;
  throw std::runtime_error(
      "record: '" + odd.text(0) +
      "' of the database is no table of stored columns; the record is damaged");
}

void Database::fail() const {
  const bool is_interrupted = handle_ && sqlite3_errcode(handle()) == SQLITE_INTERRUPT;
  if (patience_ != nullptr && (is_interrupted || patience_->is_over())) patience_->fail();
  throw std::runtime_error(handle_ ? sqlite3_errmsg(handle()) : "out of memory");
}

void Database::run(const std::string& sql) {
  if (sqlite3_exec(handle(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) fail();
}

int64_t Database::integer(const std::string& sql) {
  Statement statement(*this, sql);
  return statement.step() ? statement.integer(0) : 0;
}

std::string Database::text(const std::string& sql) {
  Statement statement(*this, sql);
  return statement.step() ? statement.text(0) : "";
}

Statement::Statement(const Database& database, std::string_view sql) : database_(&database) {
  sqlite3_stmt* handle = nullptr;
  const int code = sqlite3_prepare_v2(
      database.handle(), sql.data(), static_cast<int>(sql.size()), &handle, nullptr);
  handle_.reset(handle);
  if (code != SQLITE_OK) database.fail();
}

void Statement::check(int code) const {
  if (code != SQLITE_OK) database_->fail();
}

Statement& Statement::bind(int position, int64_t value) {
  check(sqlite3_bind_int64(handle_.get(), position, value));
  return *this;
}

Statement& Statement::bind(int position, double value) {
  check(sqlite3_bind_double(handle_.get(), position, value));
  return *this;
}

Statement& Statement::bind(int position, std::string_view text) {
  check(sqlite3_bind_text(handle_.get(),
                          position,
                          // A null pointer would bind NULL.
                          text.empty() ? "" : text.data(),
                          static_cast<int>(text.size()),
                          SQLITE_TRANSIENT));
  return *this;
}

Statement& Statement::bind_blob(int position, std::string_view bytes) {
  check(sqlite3_bind_blob(handle_.get(),
                          position,
                          bytes.empty() ? "" : bytes.data(),
                          static_cast<int>(bytes.size()),
                          SQLITE_TRANSIENT));
  return *this;
}

bool Statement::step() {
  const int code = sqlite3_step(handle_.get());
  if (code == SQLITE_ROW && ++rows_ > database_->most_rows()) {
    throw std::runtime_error("record: a table has more than " +
                             std::to_string(database_->most_rows()) +
                             " rows, which its file has no room for; the record is damaged");
  }
  if (code != SQLITE_ROW && code != SQLITE_DONE) database_->fail();
  return code == SQLITE_ROW;
}

void Statement::run() {
  step();
  reset();
}

void Statement::reset() {
  sqlite3_reset(handle_.get());
  rows_ = 0;
}

int64_t Statement::integer(int column) const { return sqlite3_column_int64(handle_.get(), column); }

double Statement::number(int column) const {
  if (sqlite3_column_type(handle_.get(), column) == SQLITE_NULL) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return sqlite3_column_double(handle_.get(), column);
}

std::string Statement::text(int column) const {
  const unsigned char* text = sqlite3_column_text(handle_.get(), column);
  const int size = sqlite3_column_bytes(handle_.get(), column);
  return text == nullptr ? "" : std::string(reinterpret_cast<const char*>(text), size);
}

std::string_view Statement::blob(int column) const {
  const void* blob = sqlite3_column_blob(handle_.get(), column);
  const int size = sqlite3_column_bytes(handle_.get(), column);
  return blob == nullptr ? std::string_view()
                         : std::string_view(static_cast<const char*>(blob), size);
}

}  // namespace flightdeck::record
