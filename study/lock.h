// SPDX-License-Identifier: MIT
// Locks between processes, by files. They end with the process that holds them.
#pragma once

#include <string>

namespace flightdeck::study {

class FileLock {
 public:
  FileLock() = default;
  ~FileLock() { release(); }
  FileLock(FileLock&& other) noexcept : file_(other.file_) { other.file_ = -1; }
  FileLock& operator=(FileLock&& other) noexcept;
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

  // Waits until it is free. Makes the folder if it is missing; throws if it cannot.
  static FileLock wait_for(const std::string& path);
  // Returns a lock that is not held if another process has it.
  static FileLock try_for(const std::string& path);

  bool is_held() const { return file_ >= 0; }
  void release();
  // Lets a program that this process becomes, or a child that calls it, keep the lock.
  void keep_beyond_exec() const;

 private:
  explicit FileLock(int file) : file_(file) {}

  int file_ = -1;
};

}  // namespace flightdeck::study
