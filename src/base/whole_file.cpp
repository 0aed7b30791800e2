// SPDX-License-Identifier: MIT
#include "base/whole_file.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <filesystem>
#include <stdexcept>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "base/disk_remedy.h"

namespace flightdeck {
namespace {

namespace fs = std::filesystem;

constexpr size_t kBufferBytes = 1 << 16;
constexpr std::string_view kMark = ".flightdeck-", kEnd = ".new";

[[noreturn]] void fail(const std::string& path, int error) {
  throw std::runtime_error("cannot write " + path + ": " + std::generic_category().message(error) +
                           "; " + disk_remedy(error));
}

// Returns a path that no other writer uses, here or on another machine that shares the folder. If
// two are equal all the same, O_EXCL refuses the second, which then tries again.
std::string unnamed_beside(const std::string& path) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  return path + std::string(kMark) + std::to_string(::getpid()) + "-" + std::to_string(now) +
         std::string(kEnd);
}

bool is_unnamed(const std::string& name, const std::string& file) {
  const std::string begin = file + std::string(kMark);
  if (name.compare(0, begin.size(), begin) != 0) return false;
  const size_t end = name.find_first_not_of("0123456789-", begin.size());
  return end != std::string::npos && name.compare(end, std::string::npos, kEnd) == 0;
}

// Removes a file that its writer left behind. Locks end with their process, so that a file without
// one belongs to nobody. Where a file system knows no locks, nothing is removed.
void remove_if_left(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return;
  if (::flock(file, LOCK_EX | LOCK_NB) == 0) ::unlink(path.c_str());
  ::close(file);
}

bool is_special(const std::string& path) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  return fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

// Returns the path that a link leads to, whether or not a file is there.
std::string followed(const std::string& path) {
  constexpr int kMostLinks = 40;
  std::error_code ignored;
  fs::path end = path;
  for (int links = 0; links < kMostLinks && fs::is_symlink(end, ignored); ++links) {
    end = end.parent_path() / fs::read_symlink(end, ignored);
  }
  return end.string();
}

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

void remove_left_behind(const fs::path& path) {
  std::error_code error;
  const std::string file = path.filename().string();
  for (fs::directory_iterator entry(folder_of(path), error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (is_unnamed(name, file)) remove_if_left(entry->path().string());
  }
}

// Locks a file that was just made. Returns false if another writer has removed it in the meantime,
// having taken it for one left behind.
bool lock_new(int file) {
  struct stat status = {};
  ::flock(file, LOCK_EX | LOCK_NB);
  return ::fstat(file, &status) != 0 || status.st_nlink > 0;
}

int sync(int file) {
  while (::fsync(file) != 0) {
    if (errno == EINVAL) return 0;  // a pipe, a device, a file system without it
    if (errno != EINTR) return errno;
  }
  return 0;
}

int sync_folder(const fs::path& folder) {
  const int file = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return 0;  // one that may be written but not read
  const int error = sync(file);
  ::close(file);
  return error;
}

}  // namespace

WholeFile::WholeFile(const std::string& path, Place place) : path_(path) {
  buffer_.reserve(kBufferBytes);
  const bool is_given = place == Place::kGiven;
  if (is_given && is_special(path)) {
    open_directly();
  } else {
    if (is_given) path_ = followed(path);
    open_beside();
  }
}

void WholeFile::open_directly() {
  file_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
  error_ = file_ < 0 ? errno : 0;
}

void WholeFile::open_beside() {
  struct stat old = {};
  const bool is_there = ::lstat(path_.c_str(), &old) == 0 && S_ISREG(old.st_mode);
  remove_left_behind(path_);
  do {
    if (file_ >= 0) ::close(file_);
    unnamed_ = unnamed_beside(path_);
    file_ = ::open(unnamed_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (file_ < 0 ? errno == EEXIST || errno == EINTR : !lock_new(file_));
  if (file_ < 0) {
    error_ = errno;
    unnamed_.clear();
    return;
  }
  lock_ = ::fcntl(file_, F_DUPFD_CLOEXEC, 0);
  if (is_there && ::fchmod(file_, old.st_mode & 07777) != 0) error_ = errno;
}

WholeFile::~WholeFile() { discard(); }

void WholeFile::write(std::string_view bytes) noexcept {
  if (buffer_.size() + bytes.size() > kBufferBytes) flush();
  if (bytes.size() > kBufferBytes) return write_out(bytes);
  buffer_.append(bytes);  // within what is reserved
}

void WholeFile::flush() noexcept {
  write_out(buffer_);
  buffer_.clear();
}

void WholeFile::write_out(std::string_view bytes) noexcept {
  while (error_ == 0 && !bytes.empty()) {
    const ssize_t written = ::write(file_, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) error_ = errno;
    if (written == 0) error_ = ENOSPC;
    bytes.remove_prefix(static_cast<size_t>(std::max<ssize_t>(written, 0)));
  }
}

void WholeFile::finish() {
  flush();
  if (error_ == 0) error_ = sync(file_);
  if (file_ >= 0 && ::close(file_) != 0 && error_ == 0) error_ = errno;
  file_ = -1;
  check();
}

void WholeFile::keep() {
  if (unnamed_.empty()) return;
  if (::rename(unnamed_.c_str(), path_.c_str()) != 0) {
    error_ = errno;
  } else {
    unnamed_.clear();
    error_ = sync_folder(folder_of(path_));
  }
  check();
}

void WholeFile::check() {
  if (error_ == 0) return;
  discard();
  fail(path_, error_);
}

void WholeFile::discard() noexcept {
  if (!unnamed_.empty()) ::unlink(unnamed_.c_str());
  unnamed_.clear();
  for (int* file : {&file_, &lock_}) {
    if (*file >= 0) ::close(*file);
    *file = -1;
  }
}

void replace_file(const std::string& path, std::string_view content, Place place) {
  const fs::path folder = folder_of(path);
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) fail(path, error.value());
  WholeFile file(path, place);
  file.write(content);
  file.finish();
  file.keep();
}

}  // namespace flightdeck
