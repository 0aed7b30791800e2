# SPDX-License-Identifier: MIT
# Installs the library, its headers and the CMake package flightdeck.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/flightdeck)
install(TARGETS flightdeck flightdeck_torch EXPORT flightdeckTargets FILE_SET public_headers)
install(EXPORT flightdeckTargets NAMESPACE flightdeck:: DESTINATION ${package_dir})

write_basic_package_version_file(${PROJECT_BINARY_DIR}/flightdeckConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(
  FILES
    ${PROJECT_BINARY_DIR}/flightdeckConfigVersion.cmake
    ${PROJECT_SOURCE_DIR}/cmake/FindTorch.cmake
    ${PROJECT_SOURCE_DIR}/cmake/flightdeckConfig.cmake
  DESTINATION ${package_dir})
