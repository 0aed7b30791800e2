// SPDX-License-Identifier: MIT
// Makes a run that ended or was killed ready to go on.
#pragma once

#include <cstdint>
#include <memory>

#include "record/folder.h"
#include "record/journal.h"
#include "record/store.h"

namespace flightdeck::record {

// Takes what the journal still has into the database, forgets `step` and later, and opens
// `journal` behind all that. The caller has the folder's lock. Killed at any point, it leaves a
// run that can be read and reopened. The store is open at the journal's beginning: readers take a
// closed one for that of a run that has ended. Throws std::runtime_error.
std::unique_ptr<Store> reopen(const Folder& folder, int64_t step, JournalWriter& journal);

}  // namespace flightdeck::record
