// SPDX-License-Identifier: MIT
#include "suite/files.h"

#include <cstring>
#include <filesystem>
#include <fstream>

#include <zlib.h>

namespace flightdeck::suite {
namespace {

template <typename Word>
std::string word(Word value) {
  std::string bytes(sizeof(Word), '\0');
  std::memcpy(bytes.data(), &value, sizeof(Word));
  return bytes;
}

std::string element(uint32_t type, std::string data) {
  if (!data.empty() && data.size() <= 4) {  // small: type, length and data in 8 bytes
    const uint32_t size = static_cast<uint32_t>(data.size());
    data.resize(4, '\0');
    return word(size << 16 | type) + data;
  }
  const std::string tag = word(type) + word(static_cast<uint32_t>(data.size()));
  data.resize((data.size() + 7) / 8 * 8, '\0');
  return tag + data;
}

std::string matrix(const MatArray& array) {
  constexpr uint32_t kUint8Class = 9;
  std::string sizes;
  for (const int32_t size : array.sizes) sizes += word(size);
  return element(14,
                 element(6, word(kUint8Class) + word(uint32_t{0})) + element(5, sizes) +
                     element(1, array.name) + element(array.type, array.bytes));
}

std::string compressed(const std::string& bytes, int window_bits) {
  z_stream stream = {};
  deflateInit2(&stream, 6, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, bytes.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

}  // namespace

void FilesTest::SetUp() {
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  folder_ = ::testing::TempDir() + "flightdeck_" + test->test_suite_name() + "_" + test->name();
  std::filesystem::remove_all(folder_);
  std::filesystem::create_directories(folder_);
}

void FilesTest::TearDown() { std::filesystem::remove_all(folder_); }

void FilesTest::write(const std::string& name, const std::string& bytes) const {
  std::filesystem::create_directories(std::filesystem::path(path(name)).parent_path());
  std::ofstream(path(name), std::ios::binary) << bytes;
}

void FilesTest::shorten(const std::string& name, int64_t count) const {
  const auto size = static_cast<int64_t>(std::filesystem::file_size(path(name)));
  std::filesystem::resize_file(path(name), static_cast<uintmax_t>(size - count));
}

std::string idx_file(const at::Tensor& values) {
  std::string bytes = {'\0', '\0', '\x08', static_cast<char>(values.dim())};
  for (const int64_t size : values.sizes()) {
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(size >> shift);
  }
  const at::Tensor flat = values.contiguous();
  return bytes.append(static_cast<const char*>(flat.data_ptr()), static_cast<size_t>(flat.numel()));
}

std::string gzip(const std::string& bytes) { return compressed(bytes, 15 + 16); }

std::string mat5_file(const std::vector<MatArray>& arrays, bool is_compressed) {
  std::string bytes = "MATLAB 5.0 MAT-file, written by a test";
  bytes.resize(124, ' ');
  bytes += std::string("\0\1IM", 4);
  for (const MatArray& array : arrays) {
    const std::string plain = matrix(array);
    if (is_compressed) {
      const std::string data = compressed(plain, 15);
      // Compressed elements are not padded.
      bytes += word(uint32_t{15}) + word(static_cast<uint32_t>(data.size())) + data;
    } else {
      bytes += plain;
    }
  }
  return bytes;
}

}  // namespace flightdeck::suite
