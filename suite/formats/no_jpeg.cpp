// SPDX-License-Identifier: MIT
// What formats/jpeg.h has in a build without libjpeg.
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
