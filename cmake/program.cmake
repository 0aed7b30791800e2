# SPDX-License-Identifier: MIT
# Precompiled <torch/torch.h> for the programs around the library. A file that includes it compiles
# for about 25 s without.

# flightdeck_precompiled(name header... [LINK library...]): an object library <name> that lends its
# precompiled headers through target_precompile_headers(... REUSE_FROM <name>). The borrower must
# link the same libraries, or the compiler refuses the header.
function(flightdeck_precompiled name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LINK")
  set(source ${PROJECT_BINARY_DIR}/generated/${name}.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "")
  add_library(${name} OBJECT ${source})
  target_link_libraries(${name} PRIVATE flightdeck_torch flightdeck_warnings ${arg_LINK})
  target_precompile_headers(${name} PRIVATE ${arg_UNPARSED_ARGUMENTS})
endfunction()

# flightdeck_use_precompiled_torch(target): borrows <torch/torch.h> and links LibTorch.
function(flightdeck_use_precompiled_torch target)
  if(NOT TARGET flightdeck_torch_pch)
    flightdeck_precompiled(flightdeck_torch_pch <torch/torch.h>)
  endif()
  target_link_libraries(${target} PRIVATE flightdeck_torch $<BUILD_INTERFACE:flightdeck_warnings>)
  target_precompile_headers(${target} REUSE_FROM flightdeck_torch_pch)
endfunction()
