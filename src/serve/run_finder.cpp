// SPDX-License-Identifier: MIT
#include "serve/run_finder.h"

#include <ctime>
#include <sys/stat.h>
#include <system_error>
#include <utility>

#include "base/limits.h"

namespace flightdeck::serve {

namespace {

// Runs of studies lie at STUDY/runs/PROBLEM/OPTIMIZER/SCHEDULE/SAMPLE/SEED, with a folder above.
static_assert(limits::kFolderDepth >= 8);
// A folder that changed so shortly before it was read may change again at the same time stamp.
constexpr int64_t kFreshSeconds = 2;
// File systems that come over a network may tell of changes late.
constexpr std::chrono::seconds kWalkAnyway{10};

bool status_of(const std::string& path, struct stat& status) {
  return ::lstat(path.c_str(), &status) == 0;
}

std::string identity_of(const struct stat& status) {
  return std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino);
}

std::string stamp_of(const struct stat& status) {
  return identity_of(status) + ":" + std::to_string(status.st_mtim.tv_sec) + ":" +
         std::to_string(status.st_mtim.tv_nsec);
}

bool is_plain_file(const std::string& path) {
  struct stat status;
  return status_of(path, status) && S_ISREG(status.st_mode);
}

// Does what RunReader::is_run does, but a link is no run: it may lead out of the served folder.
bool holds_run(const std::string& path) {
  return is_plain_file(path + "/run.sqlite") || is_plain_file(path + "/journal.0");
}

// Returns true for errors that say nothing of the folder. It will be read when there is room again.
bool is_of_this_process(const std::error_code& error) {
  return error == std::errc::too_many_files_open ||
         error == std::errc::too_many_files_open_in_system || error == std::errc::not_enough_memory;
}

std::string joined(const std::string& id, const std::string& name) {
  return id == "." ? name : id + "/" + name;
}

}  // namespace

bool RunFinder::look() {
  if (is_unchanged()) return false;
  auto folders = std::exchange(folders_, {});
  auto runs = std::exchange(runs_, {});
  const auto now = std::chrono::steady_clock::now();
  if (!walk(folder_, ".", 0)) {
    folders_ = std::move(folders);
    runs_ = std::move(runs);
    return false;
  }
  last_walk_ = now;
  return true;
}

bool RunFinder::is_unchanged() const {
  if (std::chrono::steady_clock::now() - last_walk_ > kWalkAnyway) return false;
  // The served folder may be a run itself; then its time does not matter.
  if (folders_.empty()) return !runs_.empty() && holds_run(folder_.string());
  for (const auto& [path, folder] : folders_) {
    struct stat status;
    if (folder.is_fresh || !status_of(path, status) || stamp_of(status) != folder.stamp) {
      return false;
    }
  }
  return true;
}

bool RunFinder::walk(const std::filesystem::path& folder, const std::string& id, int depth) {
  struct stat status;
  if (!status_of(folder.string(), status) || !S_ISDIR(status.st_mode)) return true;
  if (holds_run(folder.string())) {
    runs_.push_back({id, identity_of(status)});
    return true;
  }
  Folder& entry = folders_[folder.string()];
  entry.stamp = stamp_of(status);
  entry.is_fresh = status.st_mtim.tv_sec + kFreshSeconds >= std::time(nullptr);
  if (depth == limits::kFolderDepth) return true;
  std::error_code error;
  for (std::filesystem::directory_iterator item(folder, error), end; !error && item != end;
       item.increment(error)) {
    if (stop_ && *stop_) return false;
    const std::string name = item->path().filename().string();
    std::error_code ignored;
    if (name.front() == '.' || !item->is_directory(ignored) || item->is_symlink(ignored)) continue;
    if (!walk(item->path(), joined(id, name), depth + 1)) return false;
  }
  return !is_of_this_process(error);
}

}  // namespace flightdeck::serve
