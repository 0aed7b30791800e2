// SPDX-License-Identifier: MIT
// What one call of a reader sees: a transaction of the database and the journal's entries behind
// it. Nothing in the run's folder is written, created or locked.
#pragma once

#include <memory>
#include <string>

#include "record/folder.h"
#include "record/kept_copy.h"
#include "record/patience.h"
#include "record/sqlite.h"
#include "record/tail.h"

namespace flightdeck::record {

struct View {
  std::unique_ptr<Patience> patience;           // of the call
  std::shared_ptr<const TemporaryFolder> copy;  // where it could not be read in place
  std::unique_ptr<Database> database;  // in a transaction; null if the journal has everything
  std::shared_ptr<const Tail> tail;
};

// Opens a view. `tails` and `copy` belong to the folder, and take one caller at a time. Throws
// OutOfPatience, and std::invalid_argument if a file of the run is no plain file, or of a newer
// format.
View open_view(const Folder& folder, TailKeeper& tails, KeptCopy& copy, const Patience& patience);

}  // namespace flightdeck::record
