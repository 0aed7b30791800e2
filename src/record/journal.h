// SPDX-License-Identifier: MIT
// The journal: what a recorder was given, in order, one framed entry per call, in files called
// generations. A generation is never appended to once the next one exists
// (docs/decisions/0012-a-journal-before-the-database.md).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "record/file.h"
#include "record/folder.h"

namespace flightdeck::record {

// Names a place between two entries.
struct JournalPosition {
  int64_t generation = 0;
  int64_t offset = 0;  // in its file; 0 and the end of the file's header are the same place

  bool operator==(const JournalPosition& other) const {
    return generation == other.generation && offset == other.offset;
  }
  bool operator!=(const JournalPosition& other) const { return !(*this == other); }
};

// Appends entries. It belongs to the thread that trains.
class JournalWriter {
 public:
  // The writer starts the next generation when a file is over `generation_bytes`.
  JournalWriter(Folder folder, int64_t generation_bytes);

  // Makes the first file, that of `generation`. Returns 0 or the error number.
  int open(int64_t generation = 0);
  // Returns 0 if the kernel has the entry, which then outlives the process. Else returns the error
  // number, and nothing was appended.
  int append(std::string_view payload);

  int64_t generation() const { return generation_; }

 private:
  int start(int64_t generation);
  void reopen();

  Folder folder_;
  int64_t generation_bytes_;
  bool is_doubtful_ = false;  // the last append failed
  int64_t generation_ = -1;
  int64_t end_ = 0;
  File file_;
  std::string frame_;
};

// Reads entries from a position on, across generations, while they are being appended.
class JournalCursor {
 public:
  JournalCursor(Folder folder, const JournalPosition& position);

  // Takes the next whole entry's payload; returns false if there is none (yet). Throws if a file is
  // of a newer format.
  bool next(std::string& payload);
  // Returns the place behind the last entry that was read.
  const JournalPosition& position() const { return position_; }
  // Returns false if the file of the position's generation was not there when it was needed.
  bool found() const { return found_; }

 private:
  bool next_in_file(std::string& payload);
  bool open();

  Folder folder_;
  JournalPosition position_;
  File file_;
  bool found_ = true;
};

}  // namespace flightdeck::record
