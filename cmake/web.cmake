# SPDX-License-Identifier: MIT
# The page of web/: its packages fetched by npm in the versions of package-lock.json, bundled by
# esbuild, and written out as a C++ file. Sets FLIGHTDECK_HAS_WEB, and FLIGHTDECK_WEB, where that is.
# A source distribution of the Python package has the bundled page in web/page in the place of its sources.
option(FLIGHTDECK_BUILD_WEB "Build the page of the dashboard (needs Node.js 18 and npm)"
  ${PROJECT_IS_TOP_LEVEL})
find_program(FLIGHTDECK_NODE node)
find_program(FLIGHTDECK_NPM npm)
mark_as_advanced(FLIGHTDECK_NODE FLIGHTDECK_NPM)
set(FLIGHTDECK_HAS_WEB OFF)
set(web_page ${PROJECT_SOURCE_DIR}/web/page)
set(web_is_bundled OFF)
if(EXISTS ${web_page}/index.html AND NOT EXISTS ${PROJECT_SOURCE_DIR}/web/src)
  set(web_is_bundled ON)
  set(FLIGHTDECK_HAS_WEB ON)
elseif(FLIGHTDECK_BUILD_WEB AND FLIGHTDECK_NODE AND FLIGHTDECK_NPM)
  set(FLIGHTDECK_HAS_WEB ON)
endif()
add_feature_info("dashboard page" FLIGHTDECK_HAS_WEB "what serve and report show (nodejs, npm)")
if(NOT FLIGHTDECK_HAS_WEB)
  return()
endif()

# flightdeck_embed_page(file...): writes the files of the page out as C++.
function(flightdeck_embed_page)
  set(assets ${PROJECT_BINARY_DIR}/generated/serve/assets.cpp)
  add_custom_command(
    OUTPUT ${assets}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${assets} "-DFILES=${ARGN}"
      -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    DEPENDS ${ARGN} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    VERBATIM)
  # The rule is known in this folder alone; the target brings it to whoever compiles the file.
  add_custom_target(flightdeck_page DEPENDS ${assets})
endfunction()

set(web_names app.css app.js icon.svg index.html)
if(web_is_bundled)
  list(TRANSFORM web_names PREPEND ${web_page}/)
  flightdeck_embed_page(${web_names})
  return()
endif()

# npm puts the packages beside package.json, and the types of the wire stand among the sources. Sources that cannot be
# written are copied first.
set(FLIGHTDECK_WEB ${PROJECT_SOURCE_DIR}/web)
execute_process(COMMAND test -w ${FLIGHTDECK_WEB} RESULT_VARIABLE is_read_only)
if(is_read_only)
  set(FLIGHTDECK_WEB ${PROJECT_BINARY_DIR}/web_sources)
  file(COPY ${PROJECT_SOURCE_DIR}/web/ DESTINATION ${FLIGHTDECK_WEB} NO_SOURCE_PERMISSIONS
    PATTERN node_modules EXCLUDE)
endif()
set(web_types ${FLIGHTDECK_WEB}/src/wire/types.ts)
flightdeck_wire_types(${PROJECT_SOURCE_DIR}/src/serve/wire.json TYPESCRIPT ${web_types})
file(GLOB_RECURSE web_sources CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/web/src/* ${PROJECT_SOURCE_DIR}/web/static/*)
if(is_read_only)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${web_sources})
  list(APPEND web_sources ${web_types})
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

list(TRANSFORM web_names PREPEND ${PROJECT_BINARY_DIR}/web/ OUTPUT_VARIABLE web_files)
add_custom_command(
  OUTPUT ${web_files}
  COMMAND ${FLIGHTDECK_NODE} build.mjs --out ${PROJECT_BINARY_DIR}/web
    --documents ${PROJECT_SOURCE_DIR}/docs
  DEPENDS ${web}/build.mjs ${web}/tsconfig.json ${PROJECT_SOURCE_DIR}/docs/causes.md ${web_sources} ${FLIGHTDECK_WEB_PACKAGES}
  WORKING_DIRECTORY ${web}
  COMMENT "Bundling the page"
  VERBATIM)
flightdeck_embed_page(${web_files})
