# SPDX-License-Identifier: MIT
# Finds LibTorch and defines Torch::Torch.
#
# Torch's own package file is not used: for a CUDA build it enables the CUDA language and demands
# the toolkit, and for Debian's build it demands protobuf. Linking LibTorch needs neither.
#
# Searched: Torch_ROOT, Torch_DIR, CMAKE_PREFIX_PATH (variable or environment), the system. For a
# pip installation CMAKE_PREFIX_PATH is what Python's torch.utils.cmake_prefix_path says.
#
# Sets Torch_FOUND, Torch_VERSION, Torch_CUDA_FOUND.
include(FindPackageHandleStandardArgs)

# Torch_DIR and pip's prefix point at share/cmake[/Torch] below the installation.
set(_torch_roots "")
cmake_path(CONVERT "$ENV{CMAKE_PREFIX_PATH}" TO_CMAKE_PATH_LIST _torch_environment)
foreach(_torch_hint IN LISTS Torch_ROOT Torch_DIR CMAKE_PREFIX_PATH _torch_environment)
  list(APPEND _torch_roots
    ${_torch_hint} ${_torch_hint}/../.. ${_torch_hint}/../../.. ${_torch_hint}/../../../..)
endforeach()

find_path(Torch_INCLUDE_DIR torch/csrc/api/include/torch/torch.h
  HINTS ${_torch_roots} PATH_SUFFIXES include)
cmake_path(GET Torch_INCLUDE_DIR PARENT_PATH _torch_root)
foreach(_torch_library IN ITEMS torch_cpu c10 torch_cuda c10_cuda)
  string(TOUPPER ${_torch_library} _torch_suffix)
  # Only beside the headers: a second LibTorch on the machine must not be mixed in.
  find_library(Torch_${_torch_suffix}_LIBRARY ${_torch_library}
    PATHS ${_torch_root}
    PATH_SUFFIXES lib lib/${CMAKE_LIBRARY_ARCHITECTURE} lib64
    NO_DEFAULT_PATH)
  mark_as_advanced(Torch_${_torch_suffix}_LIBRARY)
endforeach()
mark_as_advanced(Torch_INCLUDE_DIR)

set(Torch_VERSION "")
foreach(_torch_file IN ITEMS csrc/api/include/torch/version.h headeronly/version.h)
  set(_torch_file ${Torch_INCLUDE_DIR}/torch/${_torch_file})
  if(NOT Torch_VERSION AND EXISTS ${_torch_file})
    file(STRINGS ${_torch_file} _torch_lines REGEX "#define TORCH_VERSION_(MAJOR|MINOR|PATCH) ")
    string(REGEX MATCHALL "[0-9]+" Torch_VERSION "${_torch_lines}")
    list(JOIN Torch_VERSION "." Torch_VERSION)
  endif()
endforeach()

find_package_handle_standard_args(Torch
  REQUIRED_VARS Torch_TORCH_CPU_LIBRARY Torch_C10_LIBRARY Torch_INCLUDE_DIR
  VERSION_VAR Torch_VERSION
  REASON_FAILURE_MESSAGE
  "install libtorch-dev, or name a LibTorch by -DCMAKE_PREFIX_PATH=<folder with include/ and lib/>")

set(Torch_CUDA_FOUND FALSE)
if(Torch_TORCH_CUDA_LIBRARY AND Torch_C10_CUDA_LIBRARY)
  set(Torch_CUDA_FOUND TRUE)
endif()

if(Torch_FOUND AND NOT TARGET Torch::Torch)
  find_package(Threads QUIET)

  # Nothing refers to a symbol of torch_cuda. A linker that drops such libraries would drop it, and
  # the program would not see the GPU.
  set(_torch_libraries ${Torch_TORCH_CPU_LIBRARY} ${Torch_C10_LIBRARY})
  if(Torch_CUDA_FOUND)
    list(PREPEND _torch_libraries
      -Wl,--push-state,--no-as-needed,${Torch_TORCH_CUDA_LIBRARY},--pop-state
      ${Torch_C10_CUDA_LIBRARY})
  endif()

  add_library(Torch::Torch INTERFACE IMPORTED)
  target_include_directories(Torch::Torch SYSTEM INTERFACE
    ${Torch_INCLUDE_DIR} ${Torch_INCLUDE_DIR}/torch/csrc/api/include)
  target_link_libraries(Torch::Torch INTERFACE ${_torch_libraries})
  # The headers of LibTorch 2.14 demand C++20. Our own are C++17 and valid in both.
  if(Torch_VERSION VERSION_GREATER_EQUAL 2.14)
    target_compile_features(Torch::Torch INTERFACE cxx_std_20)
  endif()
  if(TARGET Threads::Threads)
    target_link_libraries(Torch::Torch INTERFACE Threads::Threads)
  endif()

  # Where LibTorch logs through glog, its logging macros put glog's symbols into our objects.
  file(STRINGS ${Torch_INCLUDE_DIR}/c10/macros/cmake_macros.h _torch_lines
    REGEX "#define C10_USE_GLOG")
  if(_torch_lines)
    find_library(Torch_GLOG_LIBRARY glog)
    mark_as_advanced(Torch_GLOG_LIBRARY)
    if(Torch_GLOG_LIBRARY)
      target_link_libraries(Torch::Torch INTERFACE ${Torch_GLOG_LIBRARY})
    endif()
  endif()

  # A process needs one OpenMP. pip's LibTorch brings it along, and find_package(OpenMP) takes it.
  if(EXISTS ${_torch_root}/lib/libgomp.so.1)
    set(OpenMP_gomp_LIBRARY ${_torch_root}/lib/libgomp.so.1 CACHE FILEPATH "The OpenMP of LibTorch")
    mark_as_advanced(OpenMP_gomp_LIBRARY)
  endif()

  # pip's LibTorch up to 2.6 has the library ABI from before C++11; its package file says so.
  set(_torch_file ${_torch_root}/share/cmake/Torch/TorchConfig.cmake)
  if(EXISTS ${_torch_file})
    file(STRINGS ${_torch_file} _torch_lines REGEX "_GLIBCXX_USE_CXX11_ABI=0")
    if(_torch_lines)
      target_compile_definitions(Torch::Torch INTERFACE _GLIBCXX_USE_CXX11_ABI=0)
    endif()
  endif()
endif()
