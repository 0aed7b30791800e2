// SPDX-License-Identifier: MIT
// Stands in for the HTTP server in a build without cpp-httplib.
#include <stdexcept>

#include "serve/http_front.h"

namespace flightdeck::serve {

class HttpFront::State {};
HttpFront::HttpFront(Handler, HttpLimits, bool) {}
HttpFront::~HttpFront() = default;
void HttpFront::start(const std::string&, int) {
  throw std::runtime_error(
      "serve: this build lacks cpp-httplib; install libcpp-httplib-dev and build again");
}
int HttpFront::port() const { return 0; }
int64_t HttpFront::connections() const { return 0; }
void HttpFront::stop() {}

bool has_http_front() { return false; }

}  // namespace flightdeck::serve
