// SPDX-License-Identifier: MIT
#include "record/folder.h"

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

namespace flightdeck::record {

namespace {

// Locks of the open file, not of the process: a reader in the recorder's own process that opens and
// closes the lock file would drop a lock of the process.
struct flock whole_file(short type) {
  struct flock lock = {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  return lock;
}

}  // namespace

bool Folder::holds_run() const { return exists(database()) || exists(journal(0)); }

bool Folder::is_being_written() const {
  const File file(lock(), O_RDONLY);
  if (!file.is_open()) return false;
  // Asks without taking: a reader never gets into a recorder's way.
  struct flock probe = whole_file(F_RDLCK);
  return ::fcntl(file.descriptor(), F_OFD_GETLK, &probe) == 0 && probe.l_type != F_UNLCK;
}

LockResult FolderLock::take(const Folder& folder) {
  file_ = File(folder.lock(), O_RDWR | O_CREAT);
  if (!file_.is_open()) return LockResult::kNoFile;
  struct flock lock = whole_file(F_WRLCK);
  if (::fcntl(file_.descriptor(), F_OFD_SETLK, &lock) == 0) return LockResult::kTaken;
  if (errno != EAGAIN && errno != EACCES) return LockResult::kTaken;
  file_.close();
  return LockResult::kHeldByAnother;
}

}  // namespace flightdeck::record
