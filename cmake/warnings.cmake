# SPDX-License-Identifier: MIT
# flightdeck_warnings: warning and sanitizer flags. Linked PRIVATE, so they never reach users.
add_library(flightdeck_warnings INTERFACE)
target_compile_options(flightdeck_warnings INTERFACE
  -Wall -Wextra -Wextra-semi -Wnon-virtual-dtor -Woverloaded-virtual -Wvla
  # GoogleTest's macros name a parameter `info`, as do the lambdas that are passed to them.
  $<$<NOT:$<BOOL:$<TARGET_PROPERTY:FLIGHTDECK_IS_TEST>>>:-Wshadow>)
if(FLIGHTDECK_WARNINGS_AS_ERRORS)
  target_compile_options(flightdeck_warnings INTERFACE -Werror)
endif()

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND FLIGHTDECK_CCACHE)
  # ccache reads the preprocessed text, which must name the precompiled header, not hold it.
  target_compile_options(flightdeck_warnings INTERFACE -fpch-preprocess)
endif()

if(FLIGHTDECK_SANITIZE)
  target_compile_options(flightdeck_warnings INTERFACE
    -fsanitize=${FLIGHTDECK_SANITIZE} -fno-omit-frame-pointer
    # The instrumented code hides initialisations from GCC, which then warns about LibTorch's headers.
    -Wno-maybe-uninitialized)
  target_link_options(flightdeck_warnings INTERFACE -fsanitize=${FLIGHTDECK_SANITIZE})
endif()
add_feature_info(sanitizers FLIGHTDECK_SANITIZE "${FLIGHTDECK_SANITIZE}")
