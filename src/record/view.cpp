// SPDX-License-Identifier: MIT
#include "record/view.h"

#include <chrono>
#include <stdexcept>
#include <thread>

#include "base/plain_file.h"
#include "record/schema.h"

namespace flightdeck::record {

namespace {

std::unique_ptr<Database> open_copy(const Folder& folder, View& view, KeptCopy& kept) {
  view.copy = kept.look(folder, *view.patience);
  const Folder copy(view.copy->path());
  return std::make_unique<Database>(
      copy.database(), Database::Mode::kImmutable, view.patience.get());
}

// Refuses files that are no plain files. SQLite opens by name, and so would wait for a FIFO.
void check_files(const Folder& folder) {
  for (const std::string& path : {folder.database(),
                                  folder.wal(),
                                  folder.shm(),
                                  folder.database() + "-journal",
                                  folder.lock(),
                                  folder.journal(0)}) {
    check_plain(path, Links::kRefuse);
  }
}

// Opens the database; returns null if the journal has everything. While a recorder runs, the files
// are left to SQLite alone: closing one by ourselves would drop SQLite's locks on it if the
// recorder is in this process.
std::unique_ptr<Database> open_database(const Folder& folder,
                                        View& view,
                                        KeptCopy& copy,
                                        bool from_copy) {
  // This is asked first, so that what is seen afterwards is at least as new.
  const bool is_running = folder.is_being_written();
  if (!exists(folder.database())) return nullptr;
  const int64_t wal_size = file_size(folder.wal());
  if (is_running && wal_size < 0) {
    // There is no log yet, or the recorder has just closed it. As long as the first file of the
    // journal is there, nothing that was recorded has left the journal.
    if (exists(folder.journal(0))) return nullptr;
    throw Changed("its database is being closed");
  }
  // SQLite gives up on a log that has no page yet ("locking protocol") unless it may write.
  constexpr int64_t kWalHeaderBytes = 32;
  if (!is_running && wal_size <= kWalHeaderBytes) {
    return std::make_unique<Database>(
        folder.database(), Database::Mode::kImmutable, view.patience.get());
  }
  if (exists(folder.shm()) && !from_copy) {
    return std::make_unique<Database>(
        folder.database(), Database::Mode::kRead, view.patience.get());
  }
  if (is_running) throw Changed("its database is being opened");
  // Readers may not write, but SQLite must: it has to rebuild the index of the log. It does so in a
  // copy. A copy is read as well if reading the files themselves has failed.
  return open_copy(folder, view, copy);
}

void check_format(const Folder& folder, Database& database) {
  const int64_t application = database.integer("PRAGMA application_id");
  const int64_t format = database.integer("PRAGMA user_version");
  if (application != kApplication) {
    throw std::invalid_argument("record: '" + folder.database() +
                                "' is no run of Flightdeck; name the folder of a run");
  }
  if (format > kFormat) {
    throw std::invalid_argument("record: '" + folder.path() + "' has format " +
                                std::to_string(format) + " but this version reads up to " +
                                std::to_string(kFormat) + "; read it with a newer Flightdeck");
  }
}

// Says what to do when nobody is there to bring a folder in order.
struct Measures {
  bool may_lack_journal = false;
  bool from_copy = false;
};

View try_to_open(const Folder& folder,
                 TailKeeper& tails,
                 KeptCopy& copy,
                 const Patience& patience,
                 const Measures& measures) {
  patience.check();
  View view;
  view.patience = std::make_unique<Patience>(patience);
  check_files(folder);
  view.database = open_database(folder, view, copy, measures.from_copy);
  if (view.database) {
    view.database->run("BEGIN");
    check_format(folder, *view.database);
    view.database->check_tables(kTables);
  }
  view.tail = tails.look(folder, view.database.get(), measures.may_lack_journal, *view.patience);
  return view;
}

}  // namespace

View open_view(const Folder& folder, TailKeeper& tails, KeptCopy& copy, const Patience& patience) {
  // Files change names a few times in the life of a run, each time within milliseconds.
  constexpr int kAttempts = 500;
  constexpr int kPatience = 3;
  std::string problem;
  Measures measures;
  for (int attempt = 0; attempt < kAttempts && !measures.from_copy; ++attempt) {
    const bool is_left_alone = attempt >= kPatience && !folder.is_being_written();
    measures.from_copy = is_left_alone && measures.may_lack_journal;
    measures.may_lack_journal = is_left_alone;
    try {
      return try_to_open(folder, tails, copy, patience, measures);
    } catch (const OutOfPatience& over) {
      throw OutOfPatience("record: '" + folder.path() + "' cannot be read: " + over.what());
    } catch (const std::runtime_error& error) {
      problem = error.what();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(4));
  }
  throw std::runtime_error("record: '" + folder.path() + "' cannot be read (" + problem +
                           "); check that it is the whole folder of a run");
}

}  // namespace flightdeck::record
