// SPDX-License-Identifier: MIT
// A killed run's database where it cannot be read in place: SQLite needs to write beside a log that
// has lost its index, and readers write nothing in a run's folder.
#pragma once

#include <memory>
#include <string>

#include "record/folder.h"
#include "record/patience.h"

namespace flightdeck::record {

// A folder of temporary files; removed with its contents.
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

// One caller at a time. What it hands out may be used by any thread, and does not change.
class KeptCopy {
 public:
  // A folder that has the database, with its log folded into it. Made once for as long as the
  // run's folder is as it was. Throws Changed if it changes meanwhile, OutOfPatience when that is
  // over.
  std::shared_ptr<const TemporaryFolder> look(const Folder& folder, const Patience& patience);

 private:
  std::string fingerprint_;
  std::shared_ptr<const TemporaryFolder> copy_;
};

}  // namespace flightdeck::record
