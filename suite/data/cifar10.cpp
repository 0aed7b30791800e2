// SPDX-License-Identifier: MIT
// CIFAR-10: 50 000 training and 10 000 test photographs, 32 x 32 colour, 10 classes.
#include <ATen/Functions.h>

#include "suite/augment.h"
#include "suite/data/source.h"
#include "suite/formats/cifar_binary.h"

namespace flightdeck::suite::data_sets {
namespace {

constexpr int64_t kCifar10Classes = 10;

Samples read_cifar10_file(const std::string& path) {
  const CifarRecords records = read_cifar_binary(path, /*label_bytes=*/1);
  return {records.images, checked_labels(records.labels, kCifar10Classes, path)};
}

Parts read_cifar10(const std::string& folder) {
  std::vector<Tensor> images, labels;
  for (int number = 1; number <= 5; ++number) {
    const Samples batch =
        read_cifar10_file(folder + "/data_batch_" + std::to_string(number) + ".bin");
    images.push_back(batch.inputs);
    labels.push_back(batch.targets);
  }
  Parts parts;
  parts.train = {at::cat(images), at::cat(labels)};
  parts.test = read_cifar10_file(folder + "/test_batch.bin");
  return parts;
}

}  // namespace

DataSource cifar10() {
  DataSource source = colour_source();
  source.name = "cifar10";
  source.summary = "photographs, 32 x 32 colour, 10 classes, 50 000 + 10 000";
  source.files = {"data_batch_1.bin",
                  "data_batch_2.bin",
                  "data_batch_3.bin",
                  "data_batch_4.bin",
                  "data_batch_5.bin",
                  "test_batch.bin"};
  for (const std::string& file : source.files) source.facts.push_back({file, 10000 * 3073, ""});
  source.train_samples = 50000;
  source.test_samples = 10000;
  source.folders = {"cifar-10-batches-bin"};
  source.how_to_get =
      "unpack the binary version, cifar-10-binary.tar.gz, from "
      "https://www.cs.toronto.edu/~kriz/cifar.html";
  source.classes = kCifar10Classes;
  source.valid_share = 10000.0 / 50000.0;
  source.read = &read_cifar10;
  source.generate = [](uint64_t seed) {
    return synthetic_images({3, 32, 32}, kCifar10Classes, seed);
  };
  source.augment = [](const Tensor& images, Generator& generator) {
    return jitter_colours(crop_and_flip(images, 2, /*flip=*/true, generator), generator);
  };
  return source;
}

}  // namespace flightdeck::suite::data_sets
