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

// index.html, app.js, app.css, icon.svg. Without the page (built without Node.js) index.html
// alone, which says so.
const std::vector<Asset>& assets();

// True if the page was built in.
bool has_page();

}  // namespace flightdeck::serve
