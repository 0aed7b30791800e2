// SPDX-License-Identifier: MIT
// Fashion-MNIST: 60 000 training and 10 000 test images of clothes, 28 x 28 grey.
#include "suite/data/source.h"

namespace flightdeck::suite::data_sets {

DataSource fashion_mnist() {
  DataSource source = idx_source();
  source.name = "fashion_mnist";
  source.summary = "images of clothes, 28 x 28 grey, 10 classes, 60 000 + 10 000";
  source.places = {"/usr/share/datasets/fashion-mnist"};
  source.how_to_get = "install Debian's package dataset-fashion-mnist";
  source.facts = {
      {"train-images-idx3-ubyte",
       47040016,
       "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888"},
      {"train-labels-idx1-ubyte",
       60008,
       "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9"},
      {"t10k-images-idx3-ubyte",
       7840016,
       "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b"},
      {"t10k-labels-idx1-ubyte",
       10008,
       "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34"},
  };
  return source;
}

}  // namespace flightdeck::suite::data_sets
