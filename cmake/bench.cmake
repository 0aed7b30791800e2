# SPDX-License-Identifier: MIT
# flightdeck_bench(thing): builds <thing>_bench from <thing>_bench.cpp.
function(flightdeck_bench thing)
  add_executable(${thing}_bench ${thing}_bench.cpp)
  target_include_directories(${thing}_bench PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${thing}_bench PRIVATE
    flightdeck_internals benchmark::benchmark benchmark::benchmark_main ${ARGN})
  flightdeck_use_precompiled_torch(${thing}_bench)
endfunction()
