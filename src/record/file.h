// SPDX-License-Identifier: MIT
// A file descriptor that closes itself, and whole reads and writes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace flightdeck::record {

class File {
 public:
  File() = default;
  // Opens the file without waiting, with `flags` as of open(2). The object is closed if that fails
  // or if it is no plain file (links are none); errno says why.
  File(const std::string& path, int flags);
  ~File() { close(); }
  File(File&& other) noexcept : descriptor_(other.descriptor_) { other.descriptor_ = -1; }
  File& operator=(File&& other) noexcept;

  bool is_open() const { return descriptor_ >= 0; }
  int descriptor() const { return descriptor_; }
  void close();
  int64_t size() const;

  // Reads up to `size` bytes from `offset`; fewer only at the end of the file or on an error.
  std::string read_at(int64_t offset, size_t size) const;
  // Returns 0 or the error number. After an error some of the bytes may have been written.
  int write_at(int64_t offset, std::string_view bytes) const;

 private:
  int descriptor_ = -1;
};

// Returns the file's size, -1 if there is no such file.
int64_t file_size(const std::string& path);
bool exists(const std::string& path);

// Returns the system's words for messages, such as "No space left on device".
std::string error_text(int error);

}  // namespace flightdeck::record
