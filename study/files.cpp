// SPDX-License-Identifier: MIT
#include "study/files.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <stdexcept>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/plain_file.h"

namespace flightdeck::study {
namespace {

[[noreturn]] void fail(const std::string& doing, const std::string& path, int error) {
  throw std::runtime_error("cannot " + doing + " " + path + ": " + std::strerror(error));
}

void write_all(int file, const std::string& path, const std::string& content) {
  size_t done = 0;
  while (done < content.size()) {
    const ssize_t written = ::write(file, content.data() + done, content.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("write", path, errno);
    done += static_cast<size_t>(written);
  }
  if (::fsync(file) != 0 && errno != EINVAL) fail("write", path, errno);
}

}  // namespace

std::string read_file(const std::string& path) { return read_plain(path, limits::kStudyFileBytes); }

void replace_file(const std::string& path, const std::string& content) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder);
  // Unlike any other writer's, here or on another machine that shares the folder.
  std::string unnamed = path + ".XXXXXX";
  const int file = ::mkstemp(unnamed.data());
  if (file < 0) fail("write", path, errno);
  try {
    if (::fchmod(file, 0644) != 0) fail("write", path, errno);
    write_all(file, path, content);
    ::close(file);
  } catch (...) {
    ::close(file);
    ::unlink(unnamed.c_str());
    throw;
  }
  if (::rename(unnamed.c_str(), path.c_str()) != 0) {
    const int error = errno;
    ::unlink(unnamed.c_str());
    fail("write", path, error);
  }
}

}  // namespace flightdeck::study
