// SPDX-License-Identifier: MIT
#include "suite/data/cifar.h"

namespace flightdeck::suite::data_sets {

DataSource cifar10() {
  DataSource source = cifar_source("cifar10",
                                   "cifar-10",
                                   {/*classes=*/10, /*bytes=*/1},
                                   {"data_batch_1.bin",
                                    "data_batch_2.bin",
                                    "data_batch_3.bin",
                                    "data_batch_4.bin",
                                    "data_batch_5.bin"},
                                   "test_batch.bin");
  source.folders = {"cifar-10-batches-bin"};
  return source;
}

}  // namespace flightdeck::suite::data_sets
