# SPDX-License-Identifier: MIT
# Sources that are compiled several at a time. Reading LibTorch's headers takes longer than
# compiling what includes them; a compiler that reads them once for eight files is four times faster.
#
# Names in the anonymous namespaces of one target must therefore differ; the compiler tells where
# they do not. -DFLIGHTDECK_TOGETHER=OFF compiles every file by itself.
option(FLIGHTDECK_TOGETHER "Compile several sources at a time" ON)

# flightdeck_compile_together(target [BATCH n]): n files at a time, 8 by default, in the order in
# which they are listed. Files with compile options of their own stay alone.
function(flightdeck_compile_together target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "BATCH" "")
  if(NOT arg_BATCH)
    set(arg_BATCH 8)
  endif()
  set_target_properties(${target} PROPERTIES
    UNITY_BUILD ${FLIGHTDECK_TOGETHER}
    UNITY_BUILD_BATCH_SIZE ${arg_BATCH})
  # An anonymous namespace of an included file is one of a source here, not of a header.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endfunction()
