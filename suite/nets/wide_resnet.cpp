// SPDX-License-Identifier: MIT
#include "suite/nets/wide_resnet.h"

#include <torch/torch.h>

#include "suite/initialise.h"

namespace flightdeck::suite::nets {
namespace {

namespace nn = torch::nn;

// LibTorch's momentum is the weight of the new value: running = 0.9 running + 0.1 batch.
nn::BatchNorm2d norm(int64_t channels) {
  return nn::BatchNorm2d(nn::BatchNorm2dOptions(channels).momentum(0.1).eps(1e-5));
}

nn::Conv2d conv(int64_t in, int64_t out, int64_t kernel, int64_t stride) {
  const bool is_padded = kernel == 3 && stride == 1;
  return nn::Conv2d(
      nn::Conv2dOptions(in, out, kernel).stride(stride).padding(is_padded ? 1 : 0).bias(false));
}

// Applies the layer with SAME padding: with stride 2 on an even size 0 before and 1 after.
Tensor same(nn::Conv2d& layer, const Tensor& maps) {
  const bool is_halving = layer->options.stride()->at(0) == 2;
  return layer(is_halving ? torch::constant_pad_nd(maps, {0, 1, 0, 1}, 0) : maps);
}

class UnitImpl : public nn::Module {
 public:
  UnitImpl(int64_t in, int64_t out, int64_t stride)
      : norm1_(register_module("norm1", norm(in))),
        conv1_(register_module("conv1", conv(in, out, 3, stride))),
        norm2_(register_module("norm2", norm(out))),
        conv2_(register_module("conv2", conv(out, out, 3, 1))) {
    if (in != out) shortcut_ = register_module("shortcut", conv(in, out, 1, stride));
  }

  // Takes the shortcut of a group's first unit behind the first nonlinearity.
  Tensor forward(const Tensor& maps) {
    const Tensor active = torch::relu(norm1_(maps));
    const Tensor passed = shortcut_ ? shortcut_(active) : maps;
    return conv2_(torch::relu(norm2_(same(conv1_, active)))) + passed;
  }

 private:
  nn::BatchNorm2d norm1_;
  nn::Conv2d conv1_;
  nn::BatchNorm2d norm2_;
  nn::Conv2d conv2_;
  nn::Conv2d shortcut_ = nullptr;
};
TORCH_MODULE(Unit);

}  // namespace

Model wide_resnet(int64_t depth, int64_t classes) {
  constexpr int64_t kWidth = 4;
  nn::Sequential net;
  net->push_back("conv", conv(3, 16, 3, 1));
  int64_t in = 16;
  for (int64_t group = 0; group < 3; ++group) {
    const int64_t out = (16 << group) * kWidth;
    for (int64_t unit = 0; unit < (depth - 4) / 6; ++unit) {
      const int64_t stride = group > 0 && unit == 0 ? 2 : 1;
      net->push_back("unit" + std::to_string(group + 1) + "_" + std::to_string(unit + 1),
                     Unit(in, out, stride));
      in = out;
    }
  }
  net->push_back("norm", norm(in));
  net->push_back("relu", nn::ReLU());
  net->push_back("mean", nn::Functional([](const Tensor& maps) { return maps.mean({2, 3}); }));
  net->push_back("dense", nn::Linear(in, classes));
  initialise_matrices(
      *net, [](Tensor weight) { nn::init::xavier_uniform_(weight); }, /*bias=*/0.0);
  return {net.ptr(), [net](const Tensor& inputs) mutable { return net->forward(inputs); }};
}

}  // namespace flightdeck::suite::nets
