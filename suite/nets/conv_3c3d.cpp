// SPDX-License-Identifier: MIT
// DeepOBS's network of three convolutions and three dense layers.
#include "suite/nets/conv_3c3d.h"

#include <torch/torch.h>

#include "suite/initialise.h"

namespace flightdeck::suite::nets {
namespace {

// Makes SAME padding for pooling: 0 before, 1 after. Zero stands for minus infinity because the
// inputs come from a nonlinearity whose outputs are not negative.
torch::nn::ZeroPad2d pad_after_pooling() {
  return torch::nn::ZeroPad2d(torch::nn::ZeroPad2dOptions({0, 1, 0, 1}));
}

torch::nn::MaxPool2d pool() {
  return torch::nn::MaxPool2d(torch::nn::MaxPool2dOptions(3).stride(2));
}

}  // namespace

Model conv_3c3d(int64_t classes, Nonlinearity nonlinearity, int64_t divisor) {
  namespace nn = torch::nn;
  const auto width = [divisor](int64_t published) { return published / divisor; };
  const bool is_relu = nonlinearity != Nonlinearity::kSigmoid;
  const bool ends_in_relu = nonlinearity == Nonlinearity::kRelu;
  const std::string name = is_relu ? "relu" : "sigmoid";
  const auto either = [](bool relu) {
    return relu ? nn::AnyModule(nn::ReLU()) : nn::AnyModule(nn::Sigmoid());
  };
  const auto f = [&] { return either(is_relu); };
  nn::Sequential layers({
      {"conv1", nn::Conv2d(nn::Conv2dOptions(3, width(64), 5))},
      {name + "1", f()},
      {"pad1", pad_after_pooling()},
      {"pool1", pool()},
      {"conv2", nn::Conv2d(nn::Conv2dOptions(width(64), width(96), 3))},
      {name + "2", f()},
      {"pad2", pad_after_pooling()},
      {"pool2", pool()},
      {"conv3", nn::Conv2d(nn::Conv2dOptions(width(96), width(128), 3).padding(1))},
      {name + "3", f()},
      {"pad3", pad_after_pooling()},
      {"pool3", pool()},
      {"flatten", nn::Flatten()},
      {"dense1", nn::Linear(width(128) * 3 * 3, width(512))},
      {name + "4", f()},
      {"dense2", nn::Linear(width(512), width(256))},
      {ends_in_relu ? "relu5" : "sigmoid5", either(ends_in_relu)},
      {"dense3", nn::Linear(width(256), classes)},
  });
  initialise(*layers, &glorot_, /*bias=*/0.0);
  return {layers.ptr(), [layers](const Tensor& inputs) mutable { return layers->forward(inputs); }};
}

}  // namespace flightdeck::suite::nets
