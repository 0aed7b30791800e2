// SPDX-License-Identifier: MIT
#include "record/run_files.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <stdexcept>
#include <string_view>
#include <unistd.h>

#include "base/disk_remedy.h"
#include "base/words.h"
#include "record/file.h"
#include "record/folder.h"
#include "record/text.h"

namespace flightdeck::record {

namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 16> kNames = {"checkpoint.pt",
                                                     "config.toml",
                                                     "journal.new",
                                                     "labels.txt",
                                                     "lock",
                                                     "log.txt",
                                                     "models",
                                                     "outcome.json",
                                                     "report.html",
                                                     "run.sqlite",
                                                     "run.sqlite-journal",
                                                     "run.sqlite-shm",
                                                     "run.sqlite-wal",
                                                     "run.sqlite.new",
                                                     "run.sqlite.new-journal",
                                                     "tensorboard"};
// A killed writer of a whole file left these behind; base/whole_file.cpp names them.
constexpr std::string_view kUnnamed = ".flightdeck-";
constexpr std::string_view kEvents = "tensorboard/events.out.tfevents.";
constexpr std::string_view kModels = "models/step_";

bool begins_with(std::string_view text, std::string_view begin) {
  return text.substr(0, begin.size()) == begin;
}

bool is_journal(const std::string& name) {
  return begins_with(name, "journal.") && name.size() > 8 &&
         name.find_first_not_of("0123456789", 8) == std::string::npos;
}

[[noreturn]] void fail(const std::string& what, const std::string& path, int error) {
  throw std::runtime_error("cannot " + what + " " + path + ": " + error_text(error) + "; " +
                           disk_remedy(error));
}

// Removes slashes at the end: "runs/first/" would follow "runs/first" if that is a link.
std::string without_slashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

void check_is_run(const std::string& folder) {
  std::error_code ignored;
  if (fs::is_symlink(folder, ignored)) {
    throw std::invalid_argument(folder + " is a link to " +
                                fs::read_symlink(folder, ignored).string() +
                                "; name the folder itself");
  }
  if (fs::is_directory(folder, ignored) && Folder(folder).holds_run()) return;
  throw std::invalid_argument(folder + " holds no run; name the folder of one");
}

[[noreturn]] void refuse_recorded(const std::string& folder) {
  throw std::invalid_argument(folder + " is being recorded to; end that run first");
}

// Keeps recorders out of a run while it is moved or deleted.
class Held {
 public:
  explicit Held(const Folder& folder) : folder_(folder), had_file_(exists(folder.lock())) {
    switch (lock_.take(folder)) {
      case LockResult::kTaken:
        return;
      case LockResult::kHeldByAnother:
        refuse_recorded(folder.path());
      case LockResult::kNoFile:
        fail("lock", folder.path(), errno);
    }
  }
  // Removes the lock file if there was none before.
  void let_go(const Folder& place) {
    if (!had_file_) ::unlink(place.lock().c_str());
    lock_.release();
  }
  ~Held() {
    if (lock_.is_held()) let_go(folder_);
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

 private:
  const Folder folder_;
  const bool had_file_;
  FolderLock lock_;
};

// Orders the files for removal: the one that makes the folder a run comes last, and only the lock
// after it.
int place_of(const std::string& name) {
  if (name == "lock") return 3;
  if (name == "run.sqlite") return 2;
  return name == "journal.0" ? 1 : 0;
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    names.push_back(entry->path().filename().string());
  }
  if (error) fail("read", folder, error.value());
  std::stable_sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
    return place_of(a) < place_of(b);
  });
  return names;
}

void check_foreign(const std::string& folder, const RunContents& contents) {
  if (contents.foreign_count == 0) return;
  throw std::invalid_argument(
      folder + " holds " + std::to_string(contents.foreign_count) +
      (contents.foreign_count == 1 ? " file that is" : " files that are") +
      " not the run's: " + joined(contents.foreign) +
      (contents.foreign_count > int64_t(contents.foreign.size()) ? ", ..." : "") +
      "; move them away, or force the deletion of all");
}

void check_new_name(const std::string& name) {
  const auto refuse = [&](const std::string& why) {
    throw std::invalid_argument("the name '" + printable(name) + "' " + why);
  };
  if (name.empty()) refuse("is empty; give one");
  if (name.find('/') != std::string::npos) {
    refuse("has a slash; give a name for the same place, and move runs to others with mv");
  }
  if (name.front() == '.') refuse("begins with a dot, and hidden runs are not found; give another");
  if (printable(name) != name) {
    refuse("has control characters or bytes that are no UTF-8; give another");
  }
}

}  // namespace

bool is_file_of_run(const std::string& path) {
  const std::string name = path.substr(0, path.find(kUnnamed));
  if (std::find(kNames.begin(), kNames.end(), name) != kNames.end()) return true;
  return is_journal(name) || begins_with(path, kEvents) || begins_with(path, kModels);
}

RunContents contents_of_run(const std::string& folder) {
  constexpr size_t kNamed = 5;
  RunContents contents;
  std::error_code error;
  const fs::path above(folder);
  for (fs::recursive_directory_iterator entry(above, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string path = entry->path().lexically_relative(above).string();
    std::error_code ignored;
    const bool is_link = entry->is_symlink(ignored);
    const bool is_folder = !is_link && entry->is_directory(ignored);
    if (!is_folder) ++contents.files;
    if (entry->is_regular_file(ignored) && !is_link) {
      contents.bytes += static_cast<int64_t>(entry->file_size(ignored));
    }
    contents.has_checkpoint |= path == "checkpoint.pt";
    // Folders of a run are those of its export and of the models that it kept.
    const bool is_own_folder = path == "tensorboard" || path == "models";
    const bool is_ours = is_file_of_run(path) && is_folder == is_own_folder;
    if (is_ours) continue;
    ++contents.foreign_count;
    if (contents.foreign.size() < kNamed) contents.foreign.push_back(printable(path));
  }
  if (error) fail("read", folder, error.value());
  return contents;
}

void check_deletable(const std::string& given, Foreign foreign) {
  const std::string folder = without_slashes(given);
  check_is_run(folder);
  if (Folder(folder).is_being_written()) refuse_recorded(folder);
  if (foreign == Foreign::kRefuse) check_foreign(folder, contents_of_run(folder));
}

void delete_run(const std::string& given, Foreign foreign) {
  const std::string folder = without_slashes(given);
  check_is_run(folder);
  Held held{Folder(folder)};
  if (foreign == Foreign::kRefuse) check_foreign(folder, contents_of_run(folder));
  for (const std::string& name : names_in(folder)) {
    // A file that came after the contents were listed is kept. The folder then stays, and this is
    // told.
    if (foreign == Foreign::kRefuse && !is_file_of_run(name)) continue;
    std::error_code error;
    fs::remove_all(fs::path(folder) / name, error);  // follows no link
    if (error) fail("delete", folder + "/" + name, error.value());
  }
  if (::rmdir(folder.c_str()) != 0) fail("delete", folder, errno);
}

std::string rename_run(const std::string& given, const std::string& name) {
  const std::string folder = without_slashes(given);
  check_is_run(folder);
  check_new_name(name);
  // The canonical path also has a name for folders given as "." or "..".
  const fs::path place = fs::canonical(folder);
  const std::string to = (place.parent_path() / name).string();
  Held held{Folder(place.string())};
  // This is not rename(2), because that would replace an empty folder.
  if (::renameat2(AT_FDCWD, place.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) != 0) {
    const int error = errno;
    const bool is_unknown = error == EINVAL || error == ENOSYS;  // to the file system
    if (error == EEXIST || (is_unknown && exists(to))) {
      throw std::invalid_argument(to + " is there already; choose another name");
    }
    if (error == ENAMETOOLONG) {
      throw std::invalid_argument("the name has " + std::to_string(name.size()) +
                                  " bytes, more than the file system takes; give a shorter one");
    }
    if (!is_unknown || ::rename(place.c_str(), to.c_str()) != 0) {
      fail("rename", place.string(), is_unknown ? errno : error);
    }
  }
  held.let_go(Folder(to));
  return to;
}

}  // namespace flightdeck::record
