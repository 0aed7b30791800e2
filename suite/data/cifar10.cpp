// SPDX-License-Identifier: MIT
// CIFAR-10: 50 000 training and 10 000 test photographs, 32 x 32 colour, 10 classes.
#include <ATen/Functions.h>

#include "suite/data/source.h"
#include "suite/formats/cifar_binary.h"

namespace flightdeck::suite::data_sets {
namespace {

constexpr int64_t kClasses = 10;

Samples read_file(const std::string& path) {
  const CifarRecords records = read_cifar_binary(path, /*label_bytes=*/1);
  return {records.images, checked_labels(records.labels, kClasses, path)};
}

Parts read(const std::string& folder) {
  std::vector<Tensor> images, labels;
  for (int number = 1; number <= 5; ++number) {
    const Samples batch = read_file(folder + "/data_batch_" + std::to_string(number) + ".bin");
    images.push_back(batch.inputs);
    labels.push_back(batch.targets);
  }
  Parts parts;
  parts.train = {at::cat(images), at::cat(labels)};
  parts.test = read_file(folder + "/test_batch.bin");
  return parts;
}

}  // namespace

DataSource cifar10() {
  DataSource source = cifar_source(kClasses);
  source.files = {"data_batch_1.bin",
                  "data_batch_2.bin",
                  "data_batch_3.bin",
                  "data_batch_4.bin",
                  "data_batch_5.bin",
                  "test_batch.bin"};
  for (const std::string& file : source.files) source.facts.push_back({file, 10000 * 3073, ""});
  source.folders = {"cifar-10-batches-bin"};
  source.read = &read;
  return source;
}

}  // namespace flightdeck::suite::data_sets
