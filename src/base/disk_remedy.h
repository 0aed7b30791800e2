// SPDX-License-Identifier: MIT
// What people can do about a disk that fails; told with every message about one.
#pragma once

#include <cerrno>

namespace flightdeck {

// Returns what to do about `error`, a value of errno.
inline const char* disk_remedy(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return "make room on its disk";
    case EACCES:
    case EPERM:
    case EROFS:
      return "make its folder writable";
    case ENOENT:
    case ENOTDIR:
    case EISDIR:
      return "check that its folder is there and the name is free";
    case EIO:
      return "its disk fails: check it";
    default:
      return "choose another place";
  }
}

}  // namespace flightdeck
