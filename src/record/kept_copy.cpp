// SPDX-License-Identifier: MIT
#include "record/kept_copy.h"

#include <filesystem>
#include <stdexcept>
#include <stdlib.h>

#include "record/sqlite.h"
#include "record/tail.h"

namespace flightdeck::record {

TemporaryFolder::TemporaryFolder() {
  path_ = (std::filesystem::temp_directory_path() / "flightdeck.XXXXXX").string();
  if (::mkdtemp(path_.data()) == nullptr) {
    throw std::runtime_error("no temporary folder '" + path_ + "' can be made; set TMPDIR");
  }
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::shared_ptr<const TemporaryFolder> KeptCopy::look(const Folder& folder,
                                                      const Patience& patience) {
  const std::string fingerprint = folder.fingerprint();
  if (copy_ && fingerprint == fingerprint_) return copy_;
  copy_.reset();
  const auto made = std::make_shared<const TemporaryFolder>();
  const Folder copy(made->path());
  std::filesystem::copy_file(folder.database(), copy.database());
  std::filesystem::copy_file(folder.wal(), copy.wal());
  if (folder.fingerprint() != fingerprint)
    throw Changed("its database changed while it was copied");
  // The copy becomes one file, which any number of readers can open without a lock.
  Database(copy.database(), Database::Mode::kPlain, &patience).run("PRAGMA journal_mode = DELETE");
  copy_ = made;
  fingerprint_ = fingerprint;
  return copy_;
}

}  // namespace flightdeck::record
