// SPDX-License-Identifier: MIT
// CIFAR-100: 50 000 training and 10 000 test photographs, 32 x 32 colour, 100 classes.
#include "suite/augment.h"
#include "suite/data/source.h"
#include "suite/formats/cifar_binary.h"

namespace flightdeck::suite::data_sets {
namespace {

constexpr int64_t kCifar100Classes = 100;

Samples read_cifar100_file(const std::string& path) {
  const CifarRecords records = read_cifar_binary(path, /*label_bytes=*/2);
  const Tensor fine = records.labels.select(1, 1);  // the first byte is one of 20 coarse classes
  return {records.images, checked_labels(fine, kCifar100Classes, path)};
}

Parts read_cifar100(const std::string& folder) {
  Parts parts;
  parts.train = read_cifar100_file(folder + "/train.bin");
  parts.test = read_cifar100_file(folder + "/test.bin");
  return parts;
}

}  // namespace

DataSource cifar100() {
  DataSource source = colour_source();
  source.name = "cifar100";
  source.summary = "photographs, 32 x 32 colour, 100 classes, 50 000 + 10 000";
  source.files = {"train.bin", "test.bin"};
  source.facts = {{"train.bin", 50000 * 3074, ""}, {"test.bin", 10000 * 3074, ""}};
  source.train_samples = 50000;
  source.test_samples = 10000;
  source.folders = {"cifar-100-binary"};
  source.how_to_get =
      "unpack the binary version, cifar-100-binary.tar.gz, from "
      "https://www.cs.toronto.edu/~kriz/cifar.html";
  source.classes = kCifar100Classes;
  source.valid_share = 10000.0 / 50000.0;
  source.read = &read_cifar100;
  source.generate = [](uint64_t seed) {
    return synthetic_images({3, 32, 32}, kCifar100Classes, seed);
  };
  source.augment = [](const Tensor& images, Generator& generator) {
    return jitter_colours(crop_and_flip(images, 2, /*flip=*/true, generator), generator);
  };
  return source;
}

}  // namespace flightdeck::suite::data_sets
