# SPDX-License-Identifier: MIT
# Installs the build into a stage, builds the outside project against it and runs it.
#   cmake -DBUILD=<build> -DWORK=<scratch> -DCOMPILER=<c++> -DFLAGS=<flags> -DGENERATOR=<name>
#         -DPREFIX_PATH=<where LibTorch is> -DTORCH_HEADER=<precompiled header of the build> -P run.cmake
file(REMOVE_RECURSE ${WORK}/stage)
execute_process(
  COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/stage
  COMMAND_ERROR_IS_FATAL ANY)
execute_process(
  COMMAND ${CMAKE_COMMAND} --fresh -S ${CMAKE_CURRENT_LIST_DIR} -B ${WORK}/build -G ${GENERATOR}
    # A release, so that the checks of LibTorch's headers are those of the library. Little here is worth optimising, but a
    # header that was precompiled for an optimised program fits no other.
    -DCMAKE_BUILD_TYPE=Release "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG"
    -DTORCH_HEADER=${TORCH_HEADER}
    -DCMAKE_CXX_COMPILER=${COMPILER}
    "-DCMAKE_CXX_FLAGS=${FLAGS}"
    "-DCMAKE_PREFIX_PATH=${WORK}/stage;${PREFIX_PATH}"
  COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK}/build COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${WORK}/build/outside COMMAND_ERROR_IS_FATAL ANY)

# What it links from the suite upwards, where that was built. The tool's study starts this program again for each run.
file(REMOVE_RECURSE ${WORK}/runs)
if(EXISTS ${WORK}/build/outside_run)
  execute_process(COMMAND ${WORK}/build/outside_run ${WORK}/runs COMMAND_ERROR_IS_FATAL ANY)
endif()
if(EXISTS ${WORK}/build/outside_tool)
  execute_process(COMMAND ${WORK}/build/outside_tool list problems COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
  execute_process(
    COMMAND ${WORK}/build/outside_tool tune quadratic_deep --optimizer sgd --grid learning_rate=0.01
      --epochs 1 --threads 1 --out ${WORK}/runs/study
    COMMAND_ERROR_IS_FATAL ANY)
  file(GLOB_RECURSE outcomes ${WORK}/runs/study/*/outcome.json)
  list(LENGTH outcomes count)
  if(count EQUAL 0)
    message(FATAL_ERROR "the study of the outside tool left no outcome in ${WORK}/runs/study")
  endif()
  # Each run was this program's, not another tool's.
  list(GET outcomes 0 outcome)
  get_filename_component(record ${outcome} DIRECTORY)
  execute_process(COMMAND ${WORK}/build/outside_tool show ${record}
    OUTPUT_VARIABLE shown COMMAND_ERROR_IS_FATAL ANY)
  if(NOT shown MATCHES "outside_tool")
    message(FATAL_ERROR "the run was not started by the outside tool:\n${shown}")
  endif()
endif()

# Entries of a user's own are known to every command.
if(EXISTS ${WORK}/build/my_flightdeck)
  execute_process(
    COMMAND ${CMAKE_COMMAND} -DTOOL=${WORK}/build/my_flightdeck -DWORK=${WORK}/my_runs
      -P ${CMAKE_CURRENT_LIST_DIR}/my_flightdeck/run.cmake
    COMMAND_ERROR_IS_FATAL ANY)
endif()
