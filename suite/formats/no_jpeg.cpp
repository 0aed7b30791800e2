// SPDX-License-Identifier: MIT
// Built where libjpeg was not found.
#include <c10/util/Exception.h>

#include "suite/formats/jpeg.h"

namespace flightdeck::suite {

bool has_jpeg() { return false; }

at::Tensor read_jpeg(const std::string& path) {
  TORCH_CHECK(false,
              "data: cannot read ",
              path,
              ": this program was built without libjpeg; install libjpeg-dev, run cmake again and "
              "build");
}

}  // namespace flightdeck::suite
