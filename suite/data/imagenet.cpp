// SPDX-License-Identifier: MIT
// ImageNet's 1000 classes of 2012, read image by image: 1 281 167 for training, 50 000 for testing.
#include <algorithm>
#include <filesystem>
#include <map>

#include <ATen/ATen.h>

#include "suite/augment.h"
#include "suite/data/source.h"
#include "suite/formats/jpeg.h"
#include "suite/resize.h"

namespace flightdeck::suite::data_sets {
namespace {

constexpr int64_t kImagenetClasses = 1000;
constexpr int64_t kStored = 256;  // pixels each way before the crop
constexpr int64_t kCrop = 224;

// Stores paths as samples, padded with zeros: [n, L] uint8. Images are read when their batch is
// cut.
Tensor packed(const std::vector<std::string>& paths) {
  size_t length = 1;
  for (const std::string& path : paths) length = std::max(length, path.size());
  const auto n = static_cast<int64_t>(paths.size()), L = static_cast<int64_t>(length);
  Tensor rows = at::zeros({n, L}, at::kByte);
  for (int64_t i = 0; i < n; ++i) {
    const std::string& path = paths[static_cast<size_t>(i)];
    std::copy(path.begin(), path.end(), rows.data_ptr<uint8_t>() + i * L);
  }
  return rows;
}

std::string unpacked(const Tensor& row) {
  const std::string padded(reinterpret_cast<const char*>(row.data_ptr<uint8_t>()),
                           static_cast<size_t>(row.numel()));
  return padded.substr(0, padded.find('\0'));
}

std::vector<std::string> sorted_names(const std::string& folder, bool of_folders) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.is_directory() == of_folders) names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Labels class i of the sorted folder names i + 1; 0 is a background that never comes up.
std::map<std::string, int64_t> labels_of(const std::string& folder) {
  std::map<std::string, int64_t> labels;
  for (const std::string& name : sorted_names(folder, /*of_folders=*/true)) {
    const auto label = static_cast<int64_t>(labels.size()) + 1;
    labels[name] = label;
  }
  TORCH_CHECK(!labels.empty() && labels.size() <= kImagenetClasses,
              "data: ",
              folder,
              " has ",
              labels.size(),
              " folders but ImageNet has ",
              kImagenetClasses,
              " classes, one folder each; unpack the archive of every class into a folder of its "
              "name");
  return labels;
}

Samples list(const std::string& folder, const std::map<std::string, int64_t>& labels) {
  std::vector<std::string> paths;
  std::vector<int64_t> targets;
  for (const auto& [name, label] : labels_of(folder)) {
    const auto found = labels.find(name);
    TORCH_CHECK(found != labels.end(),
                "data: ",
                folder,
                " has a class ",
                name,
                " but the training folder beside it has none; both need the same folders");
    const std::string inside = folder + "/" + name;
    for (const std::string& file : sorted_names(inside, /*of_folders=*/false)) {
      paths.push_back(inside + "/" + file);
      targets.push_back(found->second);
    }
  }
  return {packed(paths), at::tensor(targets, at::kLong)};
}

Parts read_imagenet(const std::string& folder) {
  const std::map<std::string, int64_t> labels = labels_of(folder + "/train");
  Parts parts;
  parts.train = list(folder + "/train", labels);
  parts.test = list(folder + "/val", labels);
  return parts;
}

// Scales the shorter side to 256, then cuts out the middle 256 x 256.
Tensor read_image(const std::string& path) {
  const Tensor image = read_jpeg(path).to(at::kFloat).unsqueeze(0);
  const int64_t H = image.size(2), W = image.size(3), shorter = std::min(H, W);
  const auto scaled = [&](int64_t size) { return std::max(kStored, size * kStored / shorter); };
  const Tensor resized = resize(image, scaled(H), scaled(W));
  const int64_t top = (resized.size(2) - kStored) / 2, left = (resized.size(3) - kStored) / 2;
  return resized[0].narrow(1, top, kStored).narrow(2, left, kStored);
}

// Replaces paths by images [N, 3, 256, 256]; leaves what is an image already.
Tensor loaded(const Tensor& stored) {
  if (stored.dim() != 2) return stored;
  const Tensor paths = stored.cpu();
  Tensor images = at::empty({paths.size(0), 3, kStored, kStored});
  for (int64_t n = 0; n < paths.size(0); ++n) images[n].copy_(read_image(unpacked(paths[n])));
  return images.to(stored.device());
}

Tensor cropped_at_random(const Tensor& images, Generator& generator) {
  std::vector<Tensor> crops;
  for (int64_t n = 0; n < images.size(0); ++n) {
    const int64_t top = uniform_integer(generator, kStored - kCrop + 1);
    const int64_t left = uniform_integer(generator, kStored - kCrop + 1);
    const Tensor crop = images[n].narrow(1, top, kCrop).narrow(2, left, kCrop);
    crops.push_back(uniform_integer(generator, 2) == 1 ? crop.flip(2) : crop);
  }
  return at::stack(crops);
}

Tensor centred(const Tensor& images) {
  if (images.size(2) == kCrop) return images;  // cropped by the augmentation
  constexpr int64_t kBorder = (kStored - kCrop) / 2;
  return images.narrow(2, kBorder, kCrop).narrow(3, kBorder, kCrop);
}

Parts generate_imagenet(uint64_t seed) {
  Parts parts = synthetic_images({3, kStored, kStored}, /*classes=*/10, seed, 512, 128);
  parts.train.targets.add_(1);
  parts.test.targets.add_(1);
  return parts;
}

}  // namespace

DataSource imagenet() {
  DataSource source;
  source.name = "imagenet";
  source.summary = "photographs, 224 x 224 colour, 1000 classes, 1 281 167 + 50 000";
  source.files = {"train", "val"};
  source.how_to_get =
      "get ILSVRC2012 from https://www.image-net.org and unpack it into train/<class>/*.JPEG and "
      "val/<class>/*.JPEG";
  source.train_samples = 1281167;
  source.test_samples = 50000;
  source.classes = kImagenetClasses + 1;
  source.valid_share = 50000.0 / 1281167.0;
  source.read = &read_imagenet;
  source.generate = &generate_imagenet;
  source.augment = [](const Tensor& stored, Generator& generator) {
    return cropped_at_random(loaded(stored), generator);
  };
  source.prepare = [](const Tensor& stored) { return standardise(centred(loaded(stored))); };
  source.prepare_raw = [](const Tensor& stored) { return centred(loaded(stored)).to(at::kFloat); };
  return source;
}

}  // namespace flightdeck::suite::data_sets
