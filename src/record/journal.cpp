// SPDX-License-Identifier: MIT
#include "record/journal.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <stdexcept>
#include <unistd.h>

#include "base/limits.h"
#include "record/bytes.h"
#include "record/checksum.h"

namespace flightdeck::record {

namespace {

// A file begins with its name and the version of the format, eight bytes in all, and its
// generation.
constexpr std::string_view kMagic = "FDJRNL";
constexpr char kVersion = 1;
constexpr int64_t kHeaderBytes = 16;
constexpr int64_t kFrameBytes = 8;

std::string file_header(int64_t generation) {
  std::string header(kMagic);
  header += '\0';
  header += kVersion;
  put_u64(header, static_cast<uint64_t>(generation));
  return header;
}

}  // namespace

JournalWriter::JournalWriter(Folder folder, int64_t generation_bytes)
    : folder_(std::move(folder)), generation_bytes_(generation_bytes) {}

int JournalWriter::open(int64_t generation) { return start(generation); }

int JournalWriter::start(int64_t generation) {
  // The file gets its name when it is whole, because that name ends the generation before.
  const std::string unnamed = folder_.unnamed_journal();
  File file(unnamed, O_RDWR | O_CREAT | O_TRUNC);
  if (!file.is_open()) return errno;
  int error = file.write_at(0, file_header(generation));
  if (error == 0 && ::rename(unnamed.c_str(), folder_.journal(generation).c_str()) != 0) {
    error = errno;
  }
  if (error != 0) {
    ::unlink(unnamed.c_str());
    return error;
  }
  file_ = std::move(file);
  generation_ = generation;
  end_ = kHeaderBytes;
  return 0;
}

int JournalWriter::append(std::string_view payload) {
  if (payload.size() > limits::kEntryBytes) return EFBIG;
  // If the next generation cannot be started, this file goes on, so that no entry is lost.
  if (is_doubtful_) reopen();
  if (end_ >= generation_bytes_) start(generation_ + 1);
  frame_.clear();
  put_u32(frame_, static_cast<uint32_t>(payload.size()));
  put_u32(frame_, crc32(payload));
  frame_.append(payload);
  const int error = file_.write_at(end_, frame_);
  is_doubtful_ = error != 0;
  if (error == 0) {
    end_ += static_cast<int64_t>(frame_.size());
    return 0;
  }
  // The bytes that got through are a torn entry, which readers ignore and the next one overwrites.
  // Without it the file takes no room that others need.
  if (::ftruncate(file_.descriptor(), end_) != 0) return error;
  return error;
}

// Opens the file again. A disk that was gone may have come back under its old name, while old
// descriptors stay dead.
void JournalWriter::reopen() {
  File file(folder_.journal(generation_), O_RDWR);
  if (file.is_open() && file.size() >= end_) file_ = std::move(file);
}

JournalCursor::JournalCursor(Folder folder, const JournalPosition& position)
    : folder_(std::move(folder)), position_(position) {}

bool JournalCursor::open() {
  if (file_.is_open()) return true;
  file_ = File(folder_.journal(position_.generation), O_RDONLY);
  found_ = file_.is_open();
  if (!found_) return false;
  const std::string header = file_.read_at(0, kHeaderBytes);
  const std::string name = folder_.journal(position_.generation);
  if (header.size() < static_cast<size_t>(kHeaderBytes) ||
      header.compare(0, kMagic.size(), kMagic) != 0) {
    throw std::runtime_error("record: '" + name + "' is no journal of a run; remove it");
  }
  if (header[7] != kVersion) {
    throw std::runtime_error("record: '" + name + "' has format " + std::to_string(header[7]) +
                             " but this version reads format " + std::to_string(kVersion) +
                             "; read it with a newer Flightdeck");
  }
  position_.offset = std::max(position_.offset, kHeaderBytes);
  return true;
}

bool JournalCursor::next_in_file(std::string& payload) {
  const std::string frame = file_.read_at(position_.offset, kFrameBytes);
  if (frame.size() < static_cast<size_t>(kFrameBytes)) return false;
  ByteReader bytes(frame);
  const uint32_t size = bytes.u32();
  const uint32_t checksum = bytes.u32();
  // A size of 0 is refused as well: a crash of the machine can leave a file that ends with zeros.
  if (size == 0 || size > limits::kEntryBytes) return false;
  if (position_.offset > file_.size() - kFrameBytes - int64_t{size}) return false;
  payload = file_.read_at(position_.offset + kFrameBytes, size);
  if (payload.size() < size || crc32(payload) != checksum) return false;
  position_.offset += kFrameBytes + size;
  return true;
}

bool JournalCursor::next(std::string& payload) {
  while (true) {
    if (!open()) return false;
    if (next_in_file(payload)) return true;
    if (!exists(folder_.journal(position_.generation + 1))) return false;
    // The file may have grown between the two looks; from here on it cannot.
    if (next_in_file(payload)) return true;
    file_.close();
    position_ = {position_.generation + 1, 0};
  }
}

}  // namespace flightdeck::record
