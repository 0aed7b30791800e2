// SPDX-License-Identifier: MIT
// What the targets share: each takes bytes and either makes sense of them or throws.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

namespace flightdeck::fuzz {

// Ends the program, so that libFuzzer keeps the input.
inline void require(bool is_true) {
  if (!is_true) std::abort();
}

// Runs `read`; refusing by an exception is as good as reading.
template <typename Read>
bool accepts(const Read& read) {
  try {
    read();
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

// A folder of this process in memory, removed at its end.
inline const std::string& folder() {
  struct Folder {
    Folder() {
      const std::filesystem::path memory = "/dev/shm";
      const auto above =
          std::filesystem::is_directory(memory) ? memory : std::filesystem::temp_directory_path();
      path = (above / ("flightdeck_fuzz." + std::to_string(::getpid()))).string();
      std::filesystem::create_directories(path);
    }
    ~Folder() {
      std::error_code ignored;
      std::filesystem::remove_all(path, ignored);
    }
    std::string path;
  };
  static const Folder folder;
  return folder.path;
}

// The path of a file with these bytes.
inline std::string file_of(const uint8_t* bytes, size_t size) {
  const std::string path = folder() + "/input";
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes), static_cast<std::streamsize>(size));
  return path;
}

inline std::string text_of(const uint8_t* bytes, size_t size) {
  return std::string(reinterpret_cast<const char*>(bytes), size);
}

}  // namespace flightdeck::fuzz
