# SPDX-License-Identifier: MIT
# Defaults for a build of Flightdeck on its own: build type and compiler cache.
if(NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()

get_property(is_multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
if(NOT is_multi_config AND NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

find_program(FLIGHTDECK_CCACHE ccache)
mark_as_advanced(FLIGHTDECK_CCACHE)
if(FLIGHTDECK_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  # Without the sloppiness ccache refuses every file that uses a precompiled header. With the base
  # folder a second checkout takes what the first one compiled.
  set(CMAKE_CXX_COMPILER_LAUNCHER
    ${CMAKE_COMMAND} -E env
    CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}
    CCACHE_NOHASHDIR=1
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
    ${FLIGHTDECK_CCACHE})
endif()
add_feature_info(ccache FLIGHTDECK_CCACHE "compiler cache")
