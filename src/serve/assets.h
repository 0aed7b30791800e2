// SPDX-License-Identifier: MIT
// The files of the page, compiled into the program.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace flightdeck::serve {

struct Asset {
  std::string name;  // "index.html"
  std::string type;  // as HTTP names it
  std::string_view bytes;
};

// Returns index.html, app.js, app.css and icon.svg. In a build without Node.js there is no page,
// only an index.html that says so.
const std::vector<Asset>& assets();

// Returns true if the page was built in.
bool has_page();

}  // namespace flightdeck::serve
