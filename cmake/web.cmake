# SPDX-License-Identifier: MIT
# The page of web/: its packages fetched by npm in the versions of package-lock.json, bundled by
# esbuild, and written out as a C++ file. Sets FLIGHTDECK_HAS_WEB, and FLIGHTDECK_WEB, where that is.
option(FLIGHTDECK_BUILD_WEB "Build the page of the dashboard (needs Node.js 18 and npm)"
  ${PROJECT_IS_TOP_LEVEL})
find_program(FLIGHTDECK_NODE node)
find_program(FLIGHTDECK_NPM npm)
mark_as_advanced(FLIGHTDECK_NODE FLIGHTDECK_NPM)
set(FLIGHTDECK_HAS_WEB OFF)
if(FLIGHTDECK_BUILD_WEB AND FLIGHTDECK_NODE AND FLIGHTDECK_NPM)
  set(FLIGHTDECK_HAS_WEB ON)
endif()
add_feature_info("dashboard page" FLIGHTDECK_HAS_WEB "what serve and report show (nodejs, npm)")
if(NOT FLIGHTDECK_HAS_WEB)
  return()
endif()

# npm puts the packages beside package.json. Sources that cannot be written are copied first.
set(FLIGHTDECK_WEB ${PROJECT_SOURCE_DIR}/web)
file(GLOB_RECURSE web_sources CONFIGURE_DEPENDS ${FLIGHTDECK_WEB}/src/* ${FLIGHTDECK_WEB}/static/*)
execute_process(COMMAND test -w ${FLIGHTDECK_WEB} RESULT_VARIABLE is_read_only)
if(is_read_only)
  file(COPY ${FLIGHTDECK_WEB}/ DESTINATION ${PROJECT_BINARY_DIR}/web_sources NO_SOURCE_PERMISSIONS
    PATTERN node_modules EXCLUDE)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${web_sources})
  set(FLIGHTDECK_WEB ${PROJECT_BINARY_DIR}/web_sources)
endif()
set(web ${FLIGHTDECK_WEB})
set(FLIGHTDECK_WEB_PACKAGES ${PROJECT_BINARY_DIR}/web/packages.stamp)
add_custom_command(
  OUTPUT ${FLIGHTDECK_WEB_PACKAGES}
  COMMAND ${CMAKE_COMMAND} -DNPM=${FLIGHTDECK_NPM} -P ${PROJECT_SOURCE_DIR}/cmake/npm_ci.cmake
  COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/web
  COMMAND ${CMAKE_COMMAND} -E touch ${FLIGHTDECK_WEB_PACKAGES}
  DEPENDS ${web}/package.json ${web}/package-lock.json
  WORKING_DIRECTORY ${web}
  COMMENT "Fetching the packages of the page"
  VERBATIM)

set(web_files)
foreach(file app.css app.js icon.svg index.html)
  list(APPEND web_files ${PROJECT_BINARY_DIR}/web/${file})
endforeach()
add_custom_command(
  OUTPUT ${web_files}
  COMMAND ${FLIGHTDECK_NODE} build.mjs --out ${PROJECT_BINARY_DIR}/web
  DEPENDS ${web}/build.mjs ${web}/tsconfig.json ${web_sources} ${FLIGHTDECK_WEB_PACKAGES}
  WORKING_DIRECTORY ${web}
  COMMENT "Bundling the page"
  VERBATIM)
add_custom_command(
  OUTPUT ${PROJECT_BINARY_DIR}/generated/serve/assets.cpp
  COMMAND ${CMAKE_COMMAND} -DOUTPUT=${PROJECT_BINARY_DIR}/generated/serve/assets.cpp
    "-DFILES=${web_files}" -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
  DEPENDS ${web_files} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
  VERBATIM)
# The rule is known in this folder alone; the target brings it to whoever compiles the file.
add_custom_target(flightdeck_page DEPENDS ${PROJECT_BINARY_DIR}/generated/serve/assets.cpp)
