// SPDX-License-Identifier: MIT
#include "record/folder.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <set>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "base/limits.h"

namespace flightdeck::record {

namespace {

// Describes a lock of the open file, not of the process: a reader in the recorder's own process
// that opens and closes the lock file would drop a lock of the process.
struct flock whole_file(short type) {
  struct flock lock = {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  return lock;
}

// Returns true for the files that tell of a change. The log's index tells nothing that the log does
// not, and unnamed files are still being made.
bool is_ours(const std::string& name) {
  return name == "run.sqlite" || name == "run.sqlite-wal" || name == "lock" ||
         name == "labels.txt" || (name.rfind("journal.", 0) == 0 && name != "journal.new");
}

bool is_same_file(int descriptor, const std::string& path) {
  struct stat open = {}, named = {};
  return ::fstat(descriptor, &open) == 0 && ::stat(path.c_str(), &named) == 0 &&
         open.st_ino == named.st_ino && open.st_dev == named.st_dev;
}

std::string file_line(const std::string& path, const std::string& name) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0) return "";
  std::string line = "\n" + name;
  for (const int64_t number : {int64_t(status.st_ino),
                               int64_t(status.st_size),
                               int64_t(status.st_mtim.tv_sec),
                               int64_t(status.st_mtim.tv_nsec)}) {
    line += " " + std::to_string(number);
  }
  return line;
}

}  // namespace

bool Folder::holds_run() const { return exists(database()) || exists(journal(0)); }

bool Folder::is_being_written() const {
  const File file(lock(), O_RDONLY);
  if (!file.is_open()) return false;
  // This asks without taking the lock, so that a reader never gets into a recorder's way.
  struct flock probe = whole_file(F_RDLCK);
  return ::fcntl(file.descriptor(), F_OFD_GETLK, &probe) == 0 && probe.l_type != F_UNLCK;
}

int64_t Folder::last_generation() const {
  int64_t last = -1;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(path_, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.rfind("journal.", 0) != 0) continue;
    char* rest = nullptr;
    const int64_t number = std::strtoll(name.c_str() + 8, &rest, 10);
    const bool is_number = *rest == '\0' && rest != name.c_str() + 8;
    if (is_number && number <= limits::kGenerations) last = std::max(last, number);
  }
  return last;
}

void Folder::remove_generations(int64_t first, int64_t last) const {
  // The oldest goes first, so that a reader that still finds it finds the later ones, too.
  for (; first <= last; ++first) ::unlink(journal(first).c_str());
}

std::string Folder::fingerprint() const {
  if (!holds_run()) return "";
  std::set<std::string> lines;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(path_, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (is_ours(name)) lines.insert(file_line(entry->path().string(), name));
  }
  std::string text = is_being_written() ? "running" : "alone";
  for (const std::string& line : lines) text += line;
  return text;
}

LockResult FolderLock::take(const Folder& folder) {
  while (true) {
    file_ = File(folder.lock(), O_RDWR | O_CREAT);
    if (!file_.is_open()) return LockResult::kNoFile;
    struct flock lock = whole_file(F_WRLCK);
    const bool is_locked = ::fcntl(file_.descriptor(), F_OFD_SETLK, &lock) == 0;
    if (!is_locked && (errno == EAGAIN || errno == EACCES)) {
      file_.close();
      return LockResult::kHeldByAnother;
    }
    // The recorder before this one may have removed the file between the two calls.
    if (is_same_file(file_.descriptor(), folder.lock())) return LockResult::kTaken;
  }
}

}  // namespace flightdeck::record
