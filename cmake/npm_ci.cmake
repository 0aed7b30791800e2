# SPDX-License-Identifier: MIT
# Run with -P: NPM fetches the packages of package-lock.json into the current folder.
execute_process(
  COMMAND ${NPM} ci --no-audit --no-fund --ignore-scripts --loglevel=error
  RESULT_VARIABLE result)
if(result)
  message(FATAL_ERROR "the packages of the page could not be fetched (npm ended with ${result}); "
    "without a network build without the page: cmake -DFLIGHTDECK_BUILD_WEB=OFF")
endif()
