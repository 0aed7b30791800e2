// SPDX-License-Identifier: MIT
// What one call of a reader sees: a transaction of the database and the journal's entries behind
// it. Nothing in the run's folder is written, created or locked.
#pragma once

#include <memory>
#include <string>

#include "record/folder.h"
#include "record/kept_copy.h"
#include "record/sqlite.h"
#include "record/tail.h"

namespace flightdeck::record {

struct View {
  std::shared_ptr<const TemporaryFolder> copy;  ///< where it could not be read in place
  std::unique_ptr<Database> database;  ///< in a transaction; null if the journal has everything
  std::shared_ptr<const Tail> tail;
};

/// `tails` and `copy` belong to the folder; one caller at a time.
View open_view(const Folder& folder, TailKeeper& tails, KeptCopy& copy);

}  // namespace flightdeck::record
