// SPDX-License-Identifier: MIT
#include "suite/data/cifar.h"

#include <ATen/Functions.h>

#include "suite/augment.h"
#include "suite/formats/cifar_binary.h"

namespace flightdeck::suite {
namespace {

constexpr int64_t kTrain = 50000, kTest = 10000, kImageBytes = 3 * 32 * 32;

Samples read_cifar(const std::string& path, const CifarLabels& labels) {
  const CifarRecords records = read_cifar_binary(path, labels.bytes);
  const Tensor classes = records.labels.select(1, labels.bytes - 1);
  return {records.images, checked_labels(classes, labels.classes, path)};
}

Samples read_cifar(const std::string& folder,
                   const std::vector<std::string>& files,
                   const CifarLabels& labels) {
  std::vector<Tensor> images, targets;
  for (const std::string& file : files) {
    const Samples samples = read_cifar(folder + "/" + file, labels);
    images.push_back(samples.inputs);
    targets.push_back(samples.targets);
  }
  return {at::cat(images), at::cat(targets)};
}

}  // namespace

DataSource cifar_source(const std::string& name,
                        const std::string& published,
                        const CifarLabels& labels,
                        const std::vector<std::string>& train_files,
                        const std::string& test_file) {
  DataSource source = colour_source();
  source.name = name;
  source.summary = "photographs, 32 x 32 colour, " + std::to_string(labels.classes) +
                   " classes, 50 000 + 10 000";
  source.files = train_files;
  source.files.push_back(test_file);
  const int64_t record = kImageBytes + labels.bytes;
  const int64_t in_each = kTrain / static_cast<int64_t>(train_files.size());
  for (const std::string& file : train_files) source.facts.push_back({file, in_each * record, ""});
  source.facts.push_back({test_file, kTest * record, ""});
  source.train_samples = kTrain;
  source.test_samples = kTest;
  source.how_to_get = "unpack the binary version, " + published +
                      "-binary.tar.gz, from https://www.cs.toronto.edu/~kriz/cifar.html";
  source.classes = labels.classes;
  source.valid_share = static_cast<double>(kTest) / static_cast<double>(kTrain);
  source.read = [labels, train_files, test_file](const std::string& folder) {
    Parts parts;
    parts.train = read_cifar(folder, train_files, labels);
    parts.test = read_cifar(folder, {test_file}, labels);
    return parts;
  };
  source.generate = [labels](uint64_t seed) {
    return synthetic_images({3, 32, 32}, labels.classes, seed);
  };
  source.augment = [](const Tensor& images, Generator& generator) {
    return jitter_colours(crop_and_flip(images, 2, /*flip=*/true, generator), generator);
  };
  return source;
}

}  // namespace flightdeck::suite
