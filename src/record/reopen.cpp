// SPDX-License-Identifier: MIT
#include "record/reopen.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "record/entry.h"
#include "record/schema.h"

namespace flightdeck::record {
namespace {

// Stores the rest of the journal in one transaction, since nobody waits for it.
void store_journal(const Folder& folder, Store& store) {
  if (store.position().generation == kNoJournal) return;
  JournalCursor cursor(folder, store.position());
  int64_t entries = store.entries();
  store.begin();
  for (std::string payload; cursor.next(payload); ++entries) store.apply(read_entry(payload));
  store.commit(cursor.position(), entries);
}

}  // namespace

std::unique_ptr<Store> reopen(const Folder& folder, int64_t step, JournalWriter& journal) {
  auto opened = std::make_unique<Store>(folder);
  Store& store = *opened;
  store_journal(folder, store);
  // A run that ended needs no journal: files that are still there were stored and not removed.
  if (store.position().generation == kNoJournal) {
    folder.remove_generations(0, folder.last_generation());
  }
  store.begin();
  store.forget_from(step);
  store.commit(store.position(), store.entries());
  // The new file is there before the database points at it, and the old ones are read until then.
  // It is never generation 0, which says that the database is not used yet.
  const int64_t next =
      std::max<int64_t>({folder.last_generation(), store.position().generation, 0}) + 1;
  const int error = journal.open(next);
  if (error != 0) throw std::runtime_error(error_text(error));
  store.begin();
  store.commit({next, 0}, store.entries());
  store.sync();
  folder.remove_generations(0, next - 1);
  return opened;
}

}  // namespace flightdeck::record
