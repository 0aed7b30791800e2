// SPDX-License-Identifier: MIT
// The files of the page as answers.
#pragma once

#include <optional>

#include "serve/http.h"

namespace flightdeck::serve {

// Answers requests for files such as "/" and "/app.js"; returns nothing if the page has no such
// file.
std::optional<Response> page_file(const Request& request);

}  // namespace flightdeck::serve
