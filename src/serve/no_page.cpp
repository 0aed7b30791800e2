// SPDX-License-Identifier: MIT
// Stands in for the page where Node.js was not there to build it.
#include "serve/assets.h"

namespace flightdeck::serve {

const std::vector<Asset>& assets() {
  static const std::vector<Asset> all = {
      {"index.html",
       "text/html; charset=utf-8",
       "<!doctype html><title>Flightdeck</title><p>This flightdeck was built without its page: npm "
       "was not there. Install Node.js and npm, run cmake again and build. The values are at "
       "<a href=\"/api/v1/runs\">/api/v1/runs</a>.</p>\n"}};
  return all;
}

bool has_page() { return false; }

}  // namespace flightdeck::serve
