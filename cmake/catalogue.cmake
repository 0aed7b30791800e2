# SPDX-License-Identifier: MIT
# flightdeck_catalogue(target kind name... [BESIDE file...]): compiles <name>.cpp for each name and
# writes flightdeck/<kind>.inc with one FLIGHTDECK_ENTRY(<name>) per line. BESIDE names sources of
# the folder that are no entries: what several entries share.
#
# The list is the registry: a static library drops an object that only registers itself from a
# constructor. A file without a name stops the configuration; a name without a function is a link
# error.
function(flightdeck_catalogue target kind)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "BESIDE")
  set(names ${arg_UNPARSED_ARGUMENTS})
  set(sorted ${names})
  list(SORT sorted)
  if(NOT "${names}" STREQUAL "${sorted}")
    message(FATAL_ERROR "${kind}: keep the catalogue sorted: ${sorted}")
  endif()

  file(GLOB on_disk RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} CONFIGURE_DEPENDS *.cpp)
  list(FILTER on_disk EXCLUDE REGEX "^\\.")  # what editors put beside a file that is open
  set(lines "")
  foreach(name IN LISTS names)
    target_sources(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/${name}.cpp)
    string(APPEND lines "FLIGHTDECK_ENTRY(${name})\n")
    list(REMOVE_ITEM on_disk ${name}.cpp)
  endforeach()
  foreach(file IN LISTS arg_BESIDE)
    target_sources(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/${file})
    list(REMOVE_ITEM on_disk ${file})
  endforeach()
  if(on_disk)
    message(FATAL_ERROR "${kind}: not in the catalogue: ${on_disk}")
  endif()

  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/flightdeck/${kind}.inc CONTENT "${lines}")
endfunction()
