// SPDX-License-Identifier: MIT
#include "study/lock.h"

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <unistd.h>
#include <utility>

#include "study/cannot.h"

namespace flightdeck::study {
namespace {

int opened(const std::string& path) {
  std::error_code ignored;  // open tells
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0) cannot("lock " + path, errno);
  return file;
}

}  // namespace

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  std::swap(file_, other.file_);
  return *this;
}

FileLock FileLock::wait_for(const std::string& path) {
  FileLock lock(opened(path));
  while (::flock(lock.file_, LOCK_EX) != 0) {
    if (errno != EINTR) cannot("lock " + path, errno);
  }
  return lock;
}

FileLock FileLock::try_for(const std::string& path) {
  FileLock lock(opened(path));
  while (::flock(lock.file_, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return FileLock();
    if (errno != EINTR) cannot("lock " + path, errno);
  }
  return lock;
}

void FileLock::release() {
  if (file_ >= 0) ::close(file_);
  file_ = -1;
}

void FileLock::keep_beyond_exec() const { ::fcntl(file_, F_SETFD, 0); }

}  // namespace flightdeck::study
