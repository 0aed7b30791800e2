# SPDX-License-Identifier: MIT
# Code that spends its time in what it calls: tests, the command line, the run library. Most of its compiling was optimising
# (docs/decisions/0070-less-to-optimise.md).
#
# The library, the suite and the optimizers have loops of their own and never come here.
set(FLIGHTDECK_LIGHT_OPTIONS "" CACHE STRING
  "Compile options of tests, command line and run library, after all others: -O1 in the preset dev")

# flightdeck_compile_lightly(target): with these options. Not for what borrows the precompiled header of the suite: newer
# compilers take a header only with the options that it was compiled with.
function(flightdeck_compile_lightly target)
  target_compile_options(${target} PRIVATE ${FLIGHTDECK_LIGHT_OPTIONS})
endfunction()
