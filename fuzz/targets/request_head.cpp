// SPDX-License-Identifier: MIT
// Heads of requests, and the guard that looks at their headers.
#include "serve/request_head.h"

#include "fuzz/fuzz.h"
#include "serve/guard.h"

using namespace flightdeck;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const std::string text = fuzz::text_of(bytes, size) + "\r\n\r\n";
  const serve::RequestHead head =
      serve::read_head(std::string_view(text).substr(0, serve::head_length(text)));
  fuzz::require(head.refusal.has_value() == head.text.empty());
  if (head.refusal) return 0;
  fuzz::require(serve::head_length(head.text) == head.text.size());
  serve::Request request;
  const size_t blank = head.text.find(' ');
  request.path = head.text.substr(blank + 1, head.text.find(' ', blank + 1) - blank - 1);
  for (size_t line = head.text.find("\r\n") + 2; line + 2 < head.text.size();) {
    const size_t colon = head.text.find(": ", line), end = head.text.find("\r\n", line);
    fuzz::require(colon < end);
    request.headers[head.text.substr(line, colon - line)] =
        head.text.substr(colon + 2, end - colon - 2);
    line = end + 2;
  }
  // Nobody gets in without the token.
  serve::Guard guard("127.0.0.1", "0123456789abcdef");
  const auto stopped = guard.stop(request, 8080);
  const bool has_token = head.text.find("0123456789abcdef") != std::string::npos;
  fuzz::require(stopped.has_value() || has_token);
  return 0;
}
