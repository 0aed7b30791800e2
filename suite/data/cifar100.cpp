// SPDX-License-Identifier: MIT
#include "suite/data/cifar.h"

namespace flightdeck::suite::data_sets {

// A label has two bytes, of which the first is one of 20 coarse classes.
DataSource cifar100() {
  DataSource source = cifar_source(
      "cifar100", "cifar-100", {/*classes=*/100, /*bytes=*/2}, {"train.bin"}, "test.bin");
  source.folders = {"cifar-100-binary"};
  return source;
}

}  // namespace flightdeck::suite::data_sets
