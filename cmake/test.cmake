# SPDX-License-Identifier: MIT
# How tests are built: against the object libraries, so that they reach what the public headers
# hide, and with one precompiled <torch/torch.h> for all.

# flightdeck_uses_test_libraries(target library...): what all code under tests/ sees: include/, src/
# and tests/ as include folders, LibTorch, GoogleTest, and FLIGHTDECK_TESTS_DIR for its data files.
function(flightdeck_uses_test_libraries target)
  if(NOT TARGET flightdeck_test_pch)
    flightdeck_precompiled(flightdeck_test_pch <torch/torch.h> <gtest/gtest.h> LINK GTest::gtest)
    flightdeck_compile_lightly(flightdeck_test_pch)  # a header fits the options it was compiled with
  endif()
  target_include_directories(${target} PRIVATE
    ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include
    ${PROJECT_SOURCE_DIR}/tests ${PROJECT_BINARY_DIR}/generated)
  target_compile_definitions(${target} PRIVATE FLIGHTDECK_TESTS_DIR="${PROJECT_SOURCE_DIR}/tests")
  target_link_libraries(${target} PRIVATE flightdeck_torch flightdeck_warnings GTest::gtest ${ARGN})
  set_target_properties(${target} PROPERTIES FLIGHTDECK_IS_TEST ON)
  flightdeck_compile_lightly(${target})
  target_precompile_headers(${target} REUSE_FROM flightdeck_test_pch)
endfunction()

# flightdeck_test_support(file...): code that several areas share, linked into every test.
function(flightdeck_test_support)
  add_library(flightdeck_test_support STATIC ${ARGN})
  flightdeck_uses_test_libraries(flightdeck_test_support)
  flightdeck_compile_together(flightdeck_test_support BATCH 7)
endfunction()

# flightdeck_test(area file... [WITHOUT_TORCH] [LABEL fast|slow|gpu] [TIMEOUT seconds] [COST seconds]
# [THREADS n] [LINK library...]): builds <area>_test from files of the current folder and runs it as one
# ctest entry. LABEL defaults to fast, TIMEOUT to 300, THREADS to 1, COST to 40 for a slow one and 5 for others.
# WITHOUT_TORCH links GoogleTest and LINK alone.
function(flightdeck_test area)
  cmake_parse_arguments(PARSE_ARGV 1 arg "WITHOUT_TORCH" "LABEL;TIMEOUT;COST;THREADS" "LINK")
  if(NOT arg_LABEL)
    set(arg_LABEL fast)
  endif()
  if(NOT arg_LABEL MATCHES "^(fast|slow|gpu)$")
    message(FATAL_ERROR "flightdeck_test(${area}): LABEL is ${arg_LABEL}, not fast, slow or gpu")
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  if(NOT arg_COST AND arg_THREADS)
    set(arg_COST 60)  # takes two places: at the end nothing would fill the third
  elseif(NOT arg_COST AND arg_LABEL STREQUAL slow)
    set(arg_COST 40)
  elseif(NOT arg_COST)
    set(arg_COST 5)
  endif()
  if(NOT arg_THREADS)
    set(arg_THREADS 1)
  endif()

  add_executable(${area}_test ${arg_UNPARSED_ARGUMENTS})
  if(arg_WITHOUT_TORCH)
    target_include_directories(${area}_test PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/tests)
    target_link_libraries(${area}_test PRIVATE
      flightdeck_warnings ${arg_LINK} GTest::gtest GTest::gtest_main)
    target_compile_features(${area}_test PRIVATE cxx_std_17)
    set_target_properties(${area}_test PROPERTIES FLIGHTDECK_IS_TEST ON)
    flightdeck_compile_lightly(${area}_test)
  else()
    # The support library comes first: its symbols are resolved by the objects.
    flightdeck_uses_test_libraries(${area}_test
      flightdeck_test_support flightdeck_internals ${arg_LINK} GTest::gtest_main)
  endif()

  flightdeck_compile_together(${area}_test BATCH 16)

  add_test(NAME ${area} COMMAND ${area}_test)
  set_tests_properties(${area} PROPERTIES
    LABELS ${arg_LABEL}
    TIMEOUT ${arg_TIMEOUT}
    COST ${arg_COST}
    PROCESSORS ${arg_THREADS}
    # Tests run side by side. Two threads in each would wait for one another on cores that they share.
    # oneDNN 2.6 takes AMX for usable wherever the processor has it; Linux from 5.16 on kills who did not ask.
    ENVIRONMENT "OMP_NUM_THREADS=${arg_THREADS};OPENBLAS_NUM_THREADS=${arg_THREADS};OMP_WAIT_POLICY=PASSIVE;ONEDNN_MAX_CPU_ISA=AVX512_CORE_BF16")
endfunction()
