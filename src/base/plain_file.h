// SPDX-License-Identifier: MIT
// Plain files alone: opening a FIFO or a device waits for somebody, and some never end.
#pragma once

#include <cerrno>
#include <cstdint>
#include <fcntl.h>
#include <stdexcept>
#include <string>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace flightdeck {

enum class Links { kFollow, kRefuse };

// Says what is at `path` instead of a plain file: "a FIFO", "a folder"; empty if it is one, or
// nothing is there.
inline std::string odd_file(const std::string& path, Links links = Links::kFollow) {
  struct stat status = {};
  const int result =
      links == Links::kFollow ? ::stat(path.c_str(), &status) : ::lstat(path.c_str(), &status);
  if (result != 0 || S_ISREG(status.st_mode)) return "";
  if (S_ISLNK(status.st_mode)) return "a symbolic link";
  if (S_ISDIR(status.st_mode)) return "a folder";
  if (S_ISFIFO(status.st_mode)) return "a FIFO";
  return S_ISSOCK(status.st_mode) ? "a socket" : "a device";
}

// Throws std::invalid_argument, naming what is there, if `path` is no plain file.
inline void check_plain(const std::string& path, Links links = Links::kFollow) {
  const std::string kind = odd_file(path, links);
  if (kind.empty()) return;
  throw std::invalid_argument("'" + path + "' is " + kind +
                              ", not a plain file; put the file itself there or remove it");
}

// Opens a plain file without ever waiting. Returns a descriptor that is closed on exec, or -1 and
// errno: EINVAL for what is no plain file. `flags` are those of open(2).
inline int open_plain(const std::string& path, int flags, Links links = Links::kFollow) {
  const int all = flags | O_CLOEXEC | O_NONBLOCK | (links == Links::kRefuse ? O_NOFOLLOW : 0);
  int descriptor = -1;
  do {
    descriptor = ::open(path.c_str(), all, 0666);
  } while (descriptor < 0 && errno == EINTR);
  struct stat status = {};
  if (descriptor < 0 || (::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode))) {
    return descriptor;
  }
  ::close(descriptor);
  errno = EINVAL;
  return -1;
}

// Reads all of a plain file. Throws std::runtime_error, naming the file and why it is not read: it
// is missing, is no plain file, or has more than `most` bytes.
inline std::string read_plain(const std::string& path, int64_t most) {
  const auto fail = [&](const std::string& why) {
    throw std::runtime_error("cannot read " + path + ": " + why);
  };
  const int descriptor = open_plain(path, O_RDONLY);
  if (descriptor < 0) {
    const int error = errno;
    const std::string kind = odd_file(path);
    fail(kind.empty() ? std::generic_category().message(error)
                      : "it is " + kind + ", not a plain file");
  }
  std::string bytes;
  constexpr size_t kPiece = size_t{1} << 16;
  ssize_t got = 1;
  while (got > 0 && static_cast<int64_t>(bytes.size()) <= most) {
    const size_t before = bytes.size();
    bytes.resize(before + kPiece);
    do {
      got = ::read(descriptor, bytes.data() + before, kPiece);
    } while (got < 0 && errno == EINTR);
    bytes.resize(before + static_cast<size_t>(got > 0 ? got : 0));
  }
  const int error = got < 0 ? errno : 0;
  ::close(descriptor);
  if (error != 0) fail(std::generic_category().message(error));
  if (static_cast<int64_t>(bytes.size()) > most) {
    fail("it has more than the " + std::to_string(most) + " bytes that are read of such a file");
  }
  return bytes;
}

}  // namespace flightdeck
