// SPDX-License-Identifier: MIT
// Fashion-MNIST: 60 000 training and 10 000 test images of clothes, 28 x 28 grey.
#include "suite/data/source.h"

namespace flightdeck::suite::data_sets {

DataSource fashion_mnist() {
  DataSource source = idx_source();
  source.name = "fashion_mnist";
  source.summary = "images of clothes, 28 x 28 grey, 10 classes, 60 000 + 10 000";
  source.places = {"/usr/share/datasets/fashion-mnist"};
  source.how_to_get = "install Debian's package dataset-fashion-mnist";
  return source;
}

}  // namespace flightdeck::suite::data_sets
