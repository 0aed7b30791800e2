// SPDX-License-Identifier: MIT
// Files that are there whole or not at all, whatever fails: how everything is written but journals
// and databases, which grow.
#pragma once

#include <string>
#include <string_view>

namespace flightdeck {

// Tells who has chosen a path.
enum class Place {
  kOwn,    // of a folder of ours: a link or a pipe that has the name is replaced
  kGiven,  // named by a person: links are followed, pipes and devices written directly
};

// Writes a file under a name of its own, beside the one that it is going to replace. Until keep()
// has succeeded the old one is as it was.
class WholeFile {
 public:
  // Opens the file and removes what killed writers of the same file left behind.
  explicit WholeFile(const std::string& path, Place place = Place::kOwn);
  // Removes the file unless it was kept.
  ~WholeFile();
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;

  // Writes without ever throwing: finish() tells of the first error, of opening too.
  void write(std::string_view bytes) noexcept;
  // Brings the file to the disk. Throws std::runtime_error with the path, the cause and a remedy if
  // anything failed so far; then nothing of it is left.
  void finish();
  // Puts a finished file in its place, and the folder's entry on the disk. Throws like finish().
  void keep();

 private:
  void open_directly();
  void open_beside();
  void flush() noexcept;
  void write_out(std::string_view bytes) noexcept;
  void discard() noexcept;
  void check();

  std::string path_;     // where the file is going to be
  std::string unnamed_;  // empty if written directly, or gone
  std::string buffer_;
  int file_ = -1;
  int lock_ = -1;  // tells other writers that this one is alive
  int error_ = 0;
};

// Writes the whole file and makes its folder if that is missing. Throws like WholeFile::finish().
void replace_file(const std::string& path, std::string_view content, Place place = Place::kOwn);

}  // namespace flightdeck
