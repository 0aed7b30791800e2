# SPDX-License-Identifier: MIT
# cpp-httplib: makes flightdeck_httplib if it is there in a version that the server can build on.
include(CheckCXXSourceCompiles)
include(CMakePushCheckState)
find_path(FLIGHTDECK_HTTPLIB_DIR httplib.h)
find_library(FLIGHTDECK_HTTPLIB_LIBRARY cpp-httplib)
mark_as_advanced(FLIGHTDECK_HTTPLIB_DIR FLIGHTDECK_HTTPLIB_LIBRARY)
if(NOT FLIGHTDECK_HTTPLIB_DIR)
  return()
endif()

set(httplib_definitions "")
if(FLIGHTDECK_HTTPLIB_LIBRARY)
  # Debian's is a header and a compiled library. The sizes of its types depend on these, so they
  # must be what the library was compiled with.
  set(httplib_definitions
    CPPHTTPLIB_OPENSSL_SUPPORT CPPHTTPLIB_ZLIB_SUPPORT CPPHTTPLIB_BROTLI_SUPPORT)
endif()

# The server hands heads that it has read itself to a protected function, which later versions
# have with other arguments.
cmake_push_check_state(RESET)
set(CMAKE_REQUIRED_INCLUDES ${FLIGHTDECK_HTTPLIB_DIR})
list(TRANSFORM httplib_definitions PREPEND -D OUTPUT_VARIABLE CMAKE_REQUIRED_DEFINITIONS)
set(CMAKE_REQUIRED_LIBRARIES Threads::Threads)
if(FLIGHTDECK_HTTPLIB_LIBRARY)
  list(APPEND CMAKE_REQUIRED_LIBRARIES ${FLIGHTDECK_HTTPLIB_LIBRARY})
endif()
check_cxx_source_compiles("
  #include <httplib.h>
  struct Front : httplib::Server {
    bool one(httplib::Stream& stream, bool& is_closed) {
      svr_sock_ = 0;
      return process_request(stream, false, is_closed, [](httplib::Request&) {});
    }
  };
  int main() { Front front; return front.is_valid() ? 0 : 1; }" FLIGHTDECK_HTTPLIB_FITS)
cmake_pop_check_state()
if(NOT FLIGHTDECK_HTTPLIB_FITS)
  return()
endif()

add_library(flightdeck_httplib INTERFACE)
target_include_directories(flightdeck_httplib SYSTEM INTERFACE ${FLIGHTDECK_HTTPLIB_DIR})
target_compile_definitions(flightdeck_httplib INTERFACE ${httplib_definitions})
target_link_libraries(flightdeck_httplib INTERFACE Threads::Threads)
if(FLIGHTDECK_HTTPLIB_LIBRARY)
  target_link_libraries(flightdeck_httplib INTERFACE ${FLIGHTDECK_HTTPLIB_LIBRARY})
endif()
