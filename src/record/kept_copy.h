// SPDX-License-Identifier: MIT
// A killed run's database where it cannot be read in place: SQLite needs to write beside a log that
// has lost its index, and readers write nothing in a run's folder.
#pragma once

#include <memory>
#include <string>

#include "record/folder.h"
#include "record/patience.h"

namespace flightdeck::record {

// Makes a folder for temporary files and removes it with its contents.
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

// Keeps the copy. One caller at a time may look, but any thread may use what it gets, which does
// not change.
class KeptCopy {
 public:
  // Returns a folder that has the database, with its log folded into it. It is made once for as
  // long as the run's folder stays the same. Throws Changed if that changes meanwhile, and
  // OutOfPatience.
  std::shared_ptr<const TemporaryFolder> look(const Folder& folder, const Patience& patience);

 private:
  std::string fingerprint_;
  std::shared_ptr<const TemporaryFolder> copy_;
};

}  // namespace flightdeck::record
