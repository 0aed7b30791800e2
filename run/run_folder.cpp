// SPDX-License-Identifier: MIT
#include "run/run_folder.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <sys/stat.h>

#include <c10/util/Exception.h>

namespace flightdeck::run {

std::string make_own_folder(const std::string& command, const std::string& stem) {
  const std::string above = std::filesystem::path(stem).parent_path().string();
  std::error_code error;
  if (!above.empty()) std::filesystem::create_directories(above, error);
  // mkdir would only say that there is no such folder, not why.
  TORCH_CHECK(!error,
              command,
              ": cannot make the folder ",
              above,
              " (",
              error.message(),
              "); choose another folder");
  std::string folder = stem;
  for (int copy = 2; ::mkdir(folder.c_str(), 0777) != 0; ++copy) {
    TORCH_CHECK(errno == EEXIST,
                command,
                ": cannot make the folder ",
                folder,
                " (",
                std::strerror(errno),
                "); choose another folder");
    folder = stem + "-" + std::to_string(copy);
  }
  return folder;
}

}  // namespace flightdeck::run
