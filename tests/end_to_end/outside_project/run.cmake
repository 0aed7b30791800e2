# SPDX-License-Identifier: MIT
# Installs the build into a stage, builds the outside project against it and runs it.
#   cmake -DBUILD=<build> -DWORK=<scratch> -DCOMPILER=<c++> -DFLAGS=<flags> -DGENERATOR=<name>
#         -DPREFIX_PATH=<where LibTorch is> -P run.cmake
file(REMOVE_RECURSE ${WORK}/stage)
execute_process(
  COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/stage
  COMMAND_ERROR_IS_FATAL ANY)
execute_process(
  COMMAND ${CMAKE_COMMAND} --fresh -S ${CMAKE_CURRENT_LIST_DIR} -B ${WORK}/build -G ${GENERATOR}
    -DCMAKE_BUILD_TYPE=Release
    -DCMAKE_CXX_COMPILER=${COMPILER}
    "-DCMAKE_CXX_FLAGS=${FLAGS}"
    "-DCMAKE_PREFIX_PATH=${WORK}/stage;${PREFIX_PATH}"
  COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK}/build COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${WORK}/build/outside COMMAND_ERROR_IS_FATAL ANY)
