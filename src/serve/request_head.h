// SPDX-License-Identifier: MIT
// The first look at a request: bytes from strangers become a short, well-formed head, or a refusal.
// What the HTTP library parses afterwards has passed here.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "serve/http.h"

namespace flightdeck::serve {

constexpr size_t kHeadBytes = 16384;
constexpr size_t kTargetBytes = 8000;
constexpr size_t kHeaderLines = 100;
// This is the one address that takes POST.
constexpr std::string_view kLabelsAddress = "/api/v1/labels";

struct RequestHead {
  // Has the request line, the headers that the server reads and an empty line; no other headers.
  std::string text;
  std::optional<Response> refusal;  // then the connection is to be closed
};

// Returns the length of the head at the beginning of `bytes`, with its empty line; 0 if it is not
// complete.
size_t head_length(std::string_view bytes);

// Checks a head, which ends with its empty line.
RequestHead read_head(std::string_view head);

}  // namespace flightdeck::serve
