// SPDX-License-Identifier: MIT
#include "suite/data/fashion_mnist.h"

#include <cstdlib>
#include <filesystem>

#include "suite/data/idx.h"

namespace flightdeck::suite {
namespace {

at::Tensor read(const std::filesystem::path& folder, const std::string& name) {
  for (const char* suffix : {".gz", ""}) {
    const std::filesystem::path file = folder / (name + suffix);
    if (std::filesystem::exists(file)) return read_idx(file.string());
  }
  TORCH_CHECK(false,
              "load_fashion_mnist: ",
              folder.string(),
              " holds neither ",
              name,
              ".gz nor ",
              name,
              "; install Debian's package dataset-fashion-mnist, or name the folder with the four "
              "IDX files by argument or in FLIGHTDECK_DATA");
}

Images read_set(const std::filesystem::path& folder, const std::string& prefix) {
  const at::Tensor images = read(folder, prefix + "-images-idx3-ubyte");
  const at::Tensor labels = read(folder, prefix + "-labels-idx1-ubyte");
  TORCH_CHECK(images.size(0) == labels.size(0),
              "load_fashion_mnist: ",
              prefix,
              " has ",
              images.size(0),
              " images but ",
              labels.size(0),
              " labels; fetch the files again");
  return {images.unsqueeze(1).to(at::kFloat).div_(255.0), labels.to(at::kLong)};
}

}  // namespace

FashionMnist load_fashion_mnist(const std::string& folder) {
  const char* variable = std::getenv("FLIGHTDECK_DATA");
  std::filesystem::path path = folder;
  if (path.empty()) path = variable ? variable : "/usr/share/datasets/fashion-mnist";
  return {read_set(path, "train"), read_set(path, "t10k")};
}

}  // namespace flightdeck::suite
