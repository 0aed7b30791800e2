// SPDX-License-Identifier: MIT
// CIFAR-100: 50 000 training and 10 000 test photographs, 32 x 32 colour, 100 classes.
#include "suite/data/source.h"
#include "suite/formats/cifar_binary.h"

namespace flightdeck::suite::data_sets {
namespace {

constexpr int64_t kClasses = 100;

Samples read_file(const std::string& path) {
  const CifarRecords records = read_cifar_binary(path, /*label_bytes=*/2);
  const Tensor fine = records.labels.select(1, 1);  // the first byte is one of 20 coarse classes
  return {records.images, checked_labels(fine, kClasses, path)};
}

Parts read(const std::string& folder) {
  Parts parts;
  parts.train = read_file(folder + "/train.bin");
  parts.test = read_file(folder + "/test.bin");
  return parts;
}

}  // namespace

DataSource cifar100() {
  DataSource source = cifar_source(kClasses);
  source.files = {"train.bin", "test.bin"};
  source.facts = {{"train.bin", 50000 * 3074, ""}, {"test.bin", 10000 * 3074, ""}};
  source.folders = {"cifar-100-binary"};
  source.read = &read;
  return source;
}

}  // namespace flightdeck::suite::data_sets
