# SPDX-License-Identifier: MIT
# Follows docs/adding_an_op.md: takes its example file, adds it without and with its word, builds and
# checks that the op is then exact-fast.
#   cmake -DSOURCE=<project> -DBUILD=<build> -DLIBRARY=<libflightdeck> -DWORK=<scratch>
#         -DCOMPILER=<c++> -DFLAGS=<flags> -DGENERATOR=<name> -DPREFIX_PATH=<where LibTorch is>
#         -P run.cmake
file(REMOVE_RECURSE ${WORK})
file(COPY ${CMAKE_CURRENT_LIST_DIR}/main.cpp ${CMAKE_CURRENT_LIST_DIR}/CMakeLists.txt
  DESTINATION ${WORK})

# Step 2 of the page: the first C++ block, indented by three spaces.
file(READ ${SOURCE}/docs/adding_an_op.md page)
string(REGEX MATCH "```cpp\n(.*)\n   ```" block "${page}")
string(REGEX REPLACE "\n   " "\n" code "\n${CMAKE_MATCH_1}\n")
file(WRITE ${WORK}/ops/my_op.cpp "${code}")

function(configure result_name message_name)
  execute_process(
    COMMAND ${CMAKE_COMMAND} -S ${WORK} -B ${WORK}/build -G ${GENERATOR}
      -DCMAKE_BUILD_TYPE=Release
      -DCMAKE_CXX_COMPILER=${COMPILER}
      "-DCMAKE_CXX_FLAGS=${FLAGS}"
      "-DCMAKE_PREFIX_PATH=${PREFIX_PATH}"
      -DSOURCE=${SOURCE} -DBUILD=${BUILD} -DLIBRARY=${LIBRARY}
    RESULT_VARIABLE result
    ERROR_VARIABLE errors
    OUTPUT_VARIABLE output)
  set(${result_name} ${result} PARENT_SCOPE)
  set(${message_name} "${errors}" PARENT_SCOPE)
endfunction()

# Step 3 left out: the configuration says which file has no word.
file(WRITE ${WORK}/ops/CMakeLists.txt "flightdeck_catalogue(adding_an_op rules)\n")
configure(result errors)
if(result EQUAL 0 OR NOT errors MATCHES "not in the catalogue: my_op.cpp")
  message(FATAL_ERROR "a file without a word was accepted: ${errors}")
endif()

# Step 3 done.
file(WRITE ${WORK}/ops/CMakeLists.txt "flightdeck_catalogue(adding_an_op rules\n  my_op\n)\n")
configure(result errors)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${errors}")
endif()
execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK}/build COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${WORK}/build/adding_an_op COMMAND_ERROR_IS_FATAL ANY)
