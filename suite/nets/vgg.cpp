// SPDX-License-Identifier: MIT
#include "suite/nets/vgg.h"

#include <torch/torch.h>

#include "suite/initialise.h"
#include "suite/resize.h"

namespace flightdeck::suite::nets {
namespace {

namespace nn = torch::nn;

void add_convolutions(nn::Sequential& net, int64_t repeats_of_deep_blocks, int64_t divisor) {
  const int64_t channels[] = {
      64 / divisor, 128 / divisor, 256 / divisor, 512 / divisor, 512 / divisor};
  int64_t in = 3, number = 0;
  for (int64_t block = 0; block < 5; ++block) {
    const int64_t repeats = block < 2 ? 2 : repeats_of_deep_blocks;
    for (int64_t i = 0; i < repeats; ++i) {
      const std::string suffix = std::to_string(++number);
      net->push_back("conv" + suffix,
                     nn::Conv2d(nn::Conv2dOptions(in, channels[block], 3).padding(1)));
      net->push_back("relu" + suffix, nn::ReLU());
      in = channels[block];
    }
    net->push_back("pool" + std::to_string(block + 1), nn::MaxPool2d(2));
  }
}

}  // namespace

Model vgg(int64_t layers, int64_t classes, const VggSize& size) {
  const int64_t side = size.side, left = side / 32, dense = 4096 / size.divisor;
  nn::Sequential net;
  net->push_back("enlarge", nn::Functional([side](const Tensor& images) {
                   return resize(images, side, side);
                 }));
  add_convolutions(net, layers == 16 ? 3 : 4, size.divisor);
  net->push_back("flatten", nn::Flatten());
  net->push_back("dense1", nn::Linear(512 / size.divisor * left * left, dense));
  net->push_back("relu_dense1", nn::ReLU());
  net->push_back("dropout1", nn::Dropout(0.5));
  net->push_back("dense2", nn::Linear(dense, dense));
  net->push_back("relu_dense2", nn::ReLU());
  net->push_back("dropout2", nn::Dropout(0.5));
  net->push_back("dense3", nn::Linear(dense, classes));
  initialise(*net, &glorot_, /*bias=*/0.0);
  return {net.ptr(), [net](const Tensor& inputs) mutable { return net->forward(inputs); }};
}

}  // namespace flightdeck::suite::nets
