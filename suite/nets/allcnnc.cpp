// SPDX-License-Identifier: MIT
// All-CNN-C as in DeepOBS: nine convolutions, no pooling, no dense layer, dropout while training.
#include "suite/nets/allcnnc.h"

#include <torch/torch.h>

#include "suite/initialise.h"

namespace flightdeck::suite::nets {
namespace {

namespace nn = torch::nn;

// Makes a convolution whose output keeps the input's size: 1 before, 1 after.
nn::Conv2d same(int64_t in, int64_t out) {
  return nn::Conv2d(nn::Conv2dOptions(in, out, 3).padding(1));
}

// Pads for stride 2: on an even size SAME padding is 0 before, 1 after, which needs a layer of its
// own.
nn::ZeroPad2d pad_after() { return nn::ZeroPad2d(nn::ZeroPad2dOptions({0, 1, 0, 1})); }
nn::Conv2d halve(int64_t in, int64_t out) {
  return nn::Conv2d(nn::Conv2dOptions(in, out, 3).stride(2));
}

}  // namespace

Model allcnnc(int64_t classes, int64_t divisor) {
  const int64_t narrow = 96 / divisor, wide = 192 / divisor;
  nn::Sequential layers({
      {"dropout1", nn::Dropout(0.2)},
      {"conv1", same(3, narrow)},
      {"relu1", nn::ReLU()},
      {"conv2", same(narrow, narrow)},
      {"relu2", nn::ReLU()},
      {"pad3", pad_after()},
      {"conv3", halve(narrow, narrow)},
      {"relu3", nn::ReLU()},
      {"dropout2", nn::Dropout(0.5)},
      {"conv4", same(narrow, wide)},
      {"relu4", nn::ReLU()},
      {"conv5", same(wide, wide)},
      {"relu5", nn::ReLU()},
      {"pad6", pad_after()},
      {"conv6", halve(wide, wide)},
      {"relu6", nn::ReLU()},
      {"dropout3", nn::Dropout(0.5)},
      {"conv7", nn::Conv2d(nn::Conv2dOptions(wide, wide, 3))},
      {"relu7", nn::ReLU()},
      {"conv8", nn::Conv2d(nn::Conv2dOptions(wide, wide, 1))},
      {"relu8", nn::ReLU()},
      {"conv9", nn::Conv2d(nn::Conv2dOptions(wide, classes, 1))},
      {"relu9", nn::ReLU()},
      {"mean", nn::Functional([](const Tensor& maps) {
         return maps.mean({2, 3});
       })},
  });
  initialise(
      *layers, [](Tensor weight) { nn::init::xavier_normal_(weight); }, /*bias=*/0.1);
  return {layers.ptr(), [layers](const Tensor& inputs) mutable { return layers->forward(inputs); }};
}

}  // namespace flightdeck::suite::nets
