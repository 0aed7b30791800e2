# SPDX-License-Identifier: MIT
# Follows docs/adding_an_instrument.md: takes its example file, adds it to a copy of the page's
# sources and checks that types and tests accept it, and that they refuse it under another name.
#   cmake -DPAGE=<document> -DWEB=<its sources> -DWORK=<scratch> -DNODE=<node> -P run.cmake
file(REMOVE_RECURSE ${WORK})
file(GLOB entries LIST_DIRECTORIES true ${WEB}/*)
list(REMOVE_ITEM entries ${WEB}/node_modules ${WEB}/dist)
file(COPY ${entries} DESTINATION ${WORK} NO_SOURCE_PERMISSIONS)
file(CREATE_LINK ${WEB}/node_modules ${WORK}/node_modules SYMBOLIC)

# Step 1 of the page: the first TypeScript block, indented by three spaces.
file(READ ${PAGE} page)
string(REGEX MATCH "```ts\n(.*)\n   ```" block "${page}")
string(REGEX REPLACE "\n   " "\n" code "\n${CMAKE_MATCH_1}\n")

function(run_tests result_name output_name)
  execute_process(
    COMMAND ${NODE} test.mjs instruments_test
    WORKING_DIRECTORY ${WORK}
    RESULT_VARIABLE result
    OUTPUT_VARIABLE output
    ERROR_VARIABLE output)
  set(${result_name} ${result} PARENT_SCOPE)
  set(${output_name} "${output}" PARENT_SCOPE)
endfunction()

# A name that is not the file's is refused.
file(WRITE ${WORK}/src/instruments/other_name.ts "${code}")
run_tests(result output)
if(result EQUAL 0 OR NOT output MATCHES "not ok [0-9]+ - every instrument is named as its file")
  message(FATAL_ERROR "a file that is not named as its instrument was accepted: ${output}")
endif()

file(RENAME ${WORK}/src/instruments/other_name.ts ${WORK}/src/instruments/my_instrument.ts)
execute_process(
  COMMAND ${NODE} node_modules/typescript/bin/tsc --noEmit
  WORKING_DIRECTORY ${WORK}
  COMMAND_ERROR_IS_FATAL ANY)
run_tests(result output)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "the page's example was refused: ${output}")
endif()
