// SPDX-License-Identifier: MIT
#include "record/file.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "base/plain_file.h"

namespace flightdeck::record {

File::File(const std::string& path, int flags)
    : descriptor_(open_plain(path, flags, Links::kRefuse)) {}

File& File::operator=(File&& other) noexcept {
  if (this != &other) {
    close();
    descriptor_ = other.descriptor_;
    other.descriptor_ = -1;
  }
  return *this;
}

void File::close() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

int64_t File::size() const {
  struct stat status;
  return ::fstat(descriptor_, &status) == 0 ? static_cast<int64_t>(status.st_size) : 0;
}

std::string File::read_at(int64_t offset, size_t size) const {
  std::string bytes(size, '\0');
  size_t done = 0;
  while (done < size) {
    const ssize_t got =
        ::pread(descriptor_, bytes.data() + done, size - done, offset + static_cast<int64_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    done += static_cast<size_t>(got);
  }
  bytes.resize(done);
  return bytes;
}

int File::write_at(int64_t offset, std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t put = ::pwrite(descriptor_, bytes.data(), bytes.size(), offset);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return errno;
    if (put == 0) return ENOSPC;
    offset += put;
    bytes.remove_prefix(static_cast<size_t>(put));
  }
  return 0;
}

int64_t file_size(const std::string& path) {
  struct stat status;
  return ::stat(path.c_str(), &status) == 0 ? static_cast<int64_t>(status.st_size) : -1;
}

bool exists(const std::string& path) { return file_size(path) >= 0; }

std::string error_text(int error) { return std::generic_category().message(error); }

}  // namespace flightdeck::record
