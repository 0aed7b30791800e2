# SPDX-License-Identifier: MIT
# The build raises the standard of C++ by the version of LibTorch, of which these folders have as much as
# CMake looks at.
#   cmake -DSOURCE=<repository> -DWORK=<scratch> -DCOMPILER=<c++> -DGENERATOR=<name> -P run.cmake
foreach(pair IN ITEMS 1.13.1=201703 2.13.0=201703 2.14.0=202002 3.0.0=202002)
  string(REGEX MATCH "^([0-9]+)\\.([0-9]+)\\.([0-9]+)=([0-9]+)$" _ ${pair})
  set(version "#define TORCH_VERSION_MAJOR ${CMAKE_MATCH_1}\n#define TORCH_VERSION_MINOR ${CMAKE_MATCH_2}\n")
  string(APPEND version "#define TORCH_VERSION_PATCH ${CMAKE_MATCH_3}\n")
  set(name ${CMAKE_MATCH_1}.${CMAKE_MATCH_2}.${CMAKE_MATCH_3})
  set(standard ${CMAKE_MATCH_4})
  set(torch ${WORK}/torch-${name})
  file(REMOVE_RECURSE ${torch} ${WORK}/build-${name})
  file(WRITE ${torch}/include/torch/csrc/api/include/torch/torch.h "")
  file(WRITE ${torch}/include/c10/macros/cmake_macros.h "")
  # Later ones have it elsewhere, and a file in the old place that includes it.
  if(name VERSION_LESS 2.9)
    file(WRITE ${torch}/include/torch/csrc/api/include/torch/version.h "${version}")
  else()
    file(WRITE ${torch}/include/torch/csrc/api/include/torch/version.h "#include <torch/headeronly/version.h>\n")
    file(WRITE ${torch}/include/torch/headeronly/version.h "${version}")
  endif()
  file(WRITE ${torch}/lib/libtorch_cpu.so "")
  file(WRITE ${torch}/lib/libc10.so "")
  execute_process(
    COMMAND ${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${WORK}/build-${name} -G ${GENERATOR}
      -DCMAKE_CXX_COMPILER=${COMPILER} -DSOURCE=${SOURCE} -DTorch_ROOT=${torch} -DEXPECTED_VERSION=${name}
      -DEXPECTED_STANDARD=${standard}
    COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
  execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK}/build-${name} COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
endforeach()
