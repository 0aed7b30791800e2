// SPDX-License-Identifier: MIT
// Street View House Numbers, cropped digits: 73 257 training and 26 032 test images, 32 x 32
// colour.
#include <ATen/Functions.h>

#include "suite/augment.h"
#include "suite/data/source.h"
#include "suite/formats/mat5.h"

namespace flightdeck::suite::data_sets {
namespace {

constexpr int64_t kSvhnClasses = 10;

Samples read_svhn_file(const std::string& path) {
  const Tensor images = read_mat5(path, "X").transpose(-1, -2).contiguous();
  Tensor labels = read_mat5(path, "y").view({-1});  // [1, n]
  check_images(images, labels, {3, 32, 32}, path);
  labels = at::where(labels == 10, at::zeros_like(labels), labels);  // the files call a zero 10
  return {images, checked_labels(labels, kSvhnClasses, path)};
}

Parts read_svhn(const std::string& folder) {
  Parts parts;
  parts.train = read_svhn_file(folder + "/train_32x32.mat");
  parts.test = read_svhn_file(folder + "/test_32x32.mat");
  return parts;
}

}  // namespace

DataSource svhn() {
  DataSource source = colour_source();
  source.name = "svhn";
  source.summary = "digits of house numbers, 32 x 32 colour, 10 classes, 73 257 + 26 032";
  source.files = {"train_32x32.mat", "test_32x32.mat"};
  source.train_samples = 73257;
  source.test_samples = 26032;
  source.how_to_get = "fetch both files from http://ufldl.stanford.edu/housenumbers";
  source.classes = kSvhnClasses;
  source.valid_share = 26032.0 / 73257.0;
  source.read = &read_svhn;
  source.generate = [](uint64_t seed) { return synthetic_images({3, 32, 32}, kSvhnClasses, seed); };
  // A mirrored digit is another sign, so no flip.
  source.augment = [](const Tensor& images, Generator& generator) {
    return jitter_colours(crop_and_flip(images, 2, /*flip=*/false, generator), generator);
  };
  return source;
}

}  // namespace flightdeck::suite::data_sets
