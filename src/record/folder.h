// SPDX-License-Identifier: MIT
// The files of a run's folder, and the lock that tells a running run from a killed one.
#pragma once

#include <cstdint>
#include <string>

#include "record/file.h"

namespace flightdeck::record {

// Names the files of a run. Opens none.
class Folder {
 public:
  explicit Folder(std::string path) : path_(std::move(path)) {}

  const std::string& path() const { return path_; }
  std::string database() const { return path_ + "/run.sqlite"; }
  // The database is made here before it gets its name.
  std::string unnamed_database() const { return path_ + "/run.sqlite.new"; }
  std::string wal() const { return database() + "-wal"; }
  std::string shm() const { return database() + "-shm"; }
  std::string lock() const { return path_ + "/lock"; }
  std::string labels() const { return path_ + "/labels.txt"; }
  std::string journal(int64_t generation) const {
    return path_ + "/journal." + std::to_string(generation);
  }
  // Returns the newest generation that exists; -1 if there is none.
  int64_t last_generation() const;
  void remove_generations(int64_t first, int64_t last) const;
  // A journal's file is made here before it gets its name.
  std::string unnamed_journal() const { return path_ + "/journal.new"; }

  // Returns true if there is a database or the beginning of a journal.
  bool holds_run() const;
  // Returns true while a recorder of any process has the folder.
  bool is_being_written() const;
  // Does what RunReader::fingerprint does.
  std::string fingerprint() const;

 private:
  std::string path_;
};

enum class LockResult { kTaken, kHeldByAnother, kNoFile };

// The recorder holds this lock. The kernel lets go of it when the process dies, however it dies.
class FolderLock {
 public:
  // Takes the lock; errno says why if the result is kNoFile. A file system without locks counts as
  // taken: runs on it look killed while they run, unless another machine records them.
  LockResult take(const Folder& folder);
  bool is_held() const { return file_.is_open(); }
  void release() { file_.close(); }

 private:
  File file_;
};

}  // namespace flightdeck::record
