# SPDX-License-Identifier: MIT
# Entry point of find_package(flightdeck): defines flightdeck::flightdeck and, where they were built,
# flightdeck::optimizers, flightdeck::suite and flightdeck::run.
include(CMakeFindDependencyMacro)

# Our FindTorch.cmake, for this one call: the caller's own find_package(Torch) stays as it was.
set(_flightdeck_module_path "${CMAKE_MODULE_PATH}")
list(PREPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_LIST_DIR})
find_dependency(Torch MODULE)
set(CMAKE_MODULE_PATH "${_flightdeck_module_path}")
unset(_flightdeck_module_path)

# Linked by the static library if it was built with them; its targets name what is missing then.
find_package(OpenMP QUIET)
find_package(SQLite3 QUIET)
find_package(ZLIB QUIET)
find_package(JPEG QUIET)
find_package(Threads QUIET)

include(${CMAKE_CURRENT_LIST_DIR}/flightdeckTargets.cmake)
