// SPDX-License-Identifier: MIT
// What the data sets of images share.
#include <filesystem>

#include <ATen/ATen.h>

#include "suite/augment.h"
#include "suite/data/source.h"
#include "suite/formats/idx.h"

namespace flightdeck::suite {
namespace {

constexpr int64_t kGreyClasses = 10;

Tensor to_float(const Tensor& images) { return images.to(at::kFloat); }

Samples read_idx_pair(const std::string& folder, const std::string& prefix) {
  const std::string labels_path = file_in(folder, prefix + "-labels-idx1-ubyte");
  const Tensor images = read_idx(file_in(folder, prefix + "-images-idx3-ubyte"), 3);
  const Tensor labels = read_idx(labels_path, 1);
  check_images(images, labels, {28, 28}, labels_path);
  return {images.unsqueeze(1), checked_labels(labels, kGreyClasses, labels_path)};
}

Samples draw_images(Generator& generator, const Tensor& patterns, int64_t n) {
  const int64_t classes = patterns.size(0);
  const int64_t pixels = patterns[0].numel();
  std::vector<int64_t> shape = patterns.sizes().vec();
  shape[0] = n;
  Samples samples{at::empty(shape, at::kByte), at::empty({n}, at::kLong)};
  uint8_t* out = samples.inputs.data_ptr<uint8_t>();
  const uint8_t* pattern_of = patterns.data_ptr<uint8_t>();
  for (int64_t i = 0; i < n; ++i) {
    const int64_t label = uniform_integer(generator, classes);
    samples.targets.data_ptr<int64_t>()[i] = label;
    const uint8_t* pattern = pattern_of + label * pixels;
    uint64_t noise = 0;
    for (int64_t pixel = 0; pixel < pixels; ++pixel) {
      noise = pixel % 8 == 0 ? generator() : noise >> 8;  // eight bytes from each draw
      *out++ = static_cast<uint8_t>((pattern[pixel] + 3 * (noise & 0xff)) / 4);
    }
  }
  return samples;
}

}  // namespace

std::string file_in(const std::string& folder, const std::string& file) {
  const std::string plain = folder + "/" + file;
  return std::filesystem::exists(plain) ? plain : plain + ".gz";
}

Tensor checked_labels(const Tensor& labels, int64_t classes, const std::string& path) {
  const Tensor checked = labels.reshape({-1}).to(at::kLong);
  if (checked.numel() == 0) return checked;
  const int64_t largest = checked.max().item<int64_t>();
  TORCH_CHECK(largest < classes,
              "data: ",
              path,
              " has label ",
              largest,
              " but the classes are 0 to ",
              classes - 1,
              "; fetch the file again");
  return checked;
}

void check_images(const Tensor& images,
                  const Tensor& labels,
                  at::IntArrayRef shape,
                  const std::string& path) {
  TORCH_CHECK(images.size(0) == labels.size(0),
              "data: there are ",
              images.size(0),
              " images but ",
              labels.size(0),
              " labels in ",
              path,
              "; fetch the files again");
  TORCH_CHECK(images.sizes().slice(1) == shape,
              "data: images have shape ",
              images.sizes().slice(1),
              " but should have ",
              shape,
              " beside ",
              path,
              "; fetch the files of the right data set");
}

Parts synthetic_images(at::IntArrayRef shape,
                       int64_t classes,
                       uint64_t seed,
                       int64_t train_samples,
                       int64_t test_samples) {
  constexpr int64_t kBlock = 4;
  Generator generator = generator_of(seed, /*purpose=*/0);
  std::vector<int64_t> blocks = shape.vec();
  blocks.insert(blocks.begin(), classes);
  const size_t height = blocks.size() - 2, width = blocks.size() - 1;
  blocks[height] /= kBlock;
  blocks[width] /= kBlock;
  const Tensor coarse = at::empty(blocks, at::kByte);
  uint8_t* values = coarse.data_ptr<uint8_t>();
  for (int64_t i = 0; i < coarse.numel(); ++i) {
    values[i] = static_cast<uint8_t>(uniform_integer(generator, 256));
  }
  const Tensor patterns =
      coarse.repeat_interleave(kBlock, -1).repeat_interleave(kBlock, -2).contiguous();
  Parts parts;
  parts.train = draw_images(generator, patterns, train_samples);
  parts.test = draw_images(generator, patterns, test_samples);
  return parts;
}

DataSource idx_source() {
  DataSource source;
  source.files = {"train-images-idx3-ubyte",
                  "train-labels-idx1-ubyte",
                  "t10k-images-idx3-ubyte",
                  "t10k-labels-idx1-ubyte"};
  source.may_be_gzip = true;
  source.train_samples = 60000;
  source.test_samples = 10000;
  source.classes = kGreyClasses;
  source.valid_share = 10000.0 / 60000.0;
  source.read = [](const std::string& folder) {
    Parts parts;
    parts.train = read_idx_pair(folder, "train");
    parts.test = read_idx_pair(folder, "t10k");
    return parts;
  };
  source.generate = [](uint64_t seed) { return synthetic_images({1, 28, 28}, kGreyClasses, seed); };
  source.prepare = [](const Tensor& images) { return to_float(images).div_(255.0); };
  source.prepare_raw = &to_float;
  return source;
}

DataSource colour_source() {
  DataSource source;
  source.prepare = &standardise;
  source.prepare_raw = &to_float;
  return source;
}

DataSource cifar_source(int64_t classes) {
  const std::string number = std::to_string(classes);
  DataSource source = colour_source();
  source.name = "cifar" + number;
  source.summary = "photographs, 32 x 32 colour, " + number + " classes, 50 000 + 10 000";
  source.train_samples = 50000;
  source.test_samples = 10000;
  source.how_to_get = "unpack the binary version, cifar-" + number +
                      "-binary.tar.gz, from https://www.cs.toronto.edu/~kriz/cifar.html";
  source.classes = classes;
  source.valid_share = 10000.0 / 50000.0;
  source.generate = [classes](uint64_t seed) {
    return synthetic_images({3, 32, 32}, classes, seed);
  };
  source.augment = [](const Tensor& images, Generator& generator) {
    return jitter_colours(crop_and_flip(images, 2, /*flip=*/true, generator), generator);
  };
  return source;
}

}  // namespace flightdeck::suite
