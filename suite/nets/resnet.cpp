// SPDX-License-Identifier: MIT
#include "suite/nets/resnet.h"

#include <torch/torch.h>

#include "suite/initialise.h"

namespace flightdeck::suite::nets {
namespace {

namespace nn = torch::nn;

nn::Conv2d bare_conv(int64_t in, int64_t out, int64_t kernel, int64_t stride) {
  return nn::Conv2d(
      nn::Conv2dOptions(in, out, kernel).stride(stride).padding(kernel / 2).bias(false));
}

// A convolution and what normalises its maps.
class NormedConvImpl : public nn::Module {
 public:
  NormedConvImpl(
      int64_t in, int64_t out, int64_t kernel, int64_t stride, Normalisation normalisation)
      : conv_(register_module("conv", bare_conv(in, out, kernel, stride))) {
    if (normalisation == Normalisation::kNone) return;
    norm_ = register_module("norm",
                            nn::BatchNorm2d(nn::BatchNorm2dOptions(out).momentum(0.1).eps(1e-5)));
  }

  Tensor forward(const Tensor& maps) { return norm_ ? norm_(conv_(maps)) : conv_(maps); }

 private:
  nn::Conv2d conv_;
  nn::BatchNorm2d norm_ = nullptr;
};
TORCH_MODULE(NormedConv);

// Two 3 x 3 convolutions and a shortcut without parameters.
class SmallUnitImpl : public nn::Module {
 public:
  SmallUnitImpl(int64_t in, int64_t out)
      : stride_(in == out ? 1 : 2),
        padding_((out - in) / 2),
        first_(
            register_module("first", NormedConv(in, out, 3, stride_, Normalisation::kBatchNorm))),
        second_(register_module("second", NormedConv(out, out, 3, 1, Normalisation::kBatchNorm))) {}

  Tensor forward(const Tensor& maps) {
    return torch::relu(second_(torch::relu(first_(maps))) + shortcut(maps));
  }

 private:
  Tensor shortcut(const Tensor& maps) const {
    if (stride_ == 1) return maps;
    const Tensor coarse = maps.slice(2, 0, c10::nullopt, 2).slice(3, 0, c10::nullopt, 2);
    return torch::constant_pad_nd(coarse, {0, 0, 0, 0, padding_, padding_}, 0);
  }

  int64_t stride_, padding_;
  NormedConv first_, second_;
};
TORCH_MODULE(SmallUnit);

// Convolutions down to a quarter of the outgoing channels, across, and up again.
class BottleneckImpl : public nn::Module {
 public:
  BottleneckImpl(int64_t in, int64_t out, int64_t stride, Normalisation normalisation)
      : down_(register_module("down", NormedConv(in, out / 4, 1, 1, normalisation))),
        across_(register_module("across", NormedConv(out / 4, out / 4, 3, stride, normalisation))),
        up_(register_module("up", NormedConv(out / 4, out, 1, 1, normalisation))) {
    if (in != out)
      shortcut_ = register_module("shortcut", NormedConv(in, out, 1, stride, normalisation));
  }

  Tensor forward(const Tensor& maps) {
    const Tensor branch = up_(torch::relu(across_(torch::relu(down_(maps)))));
    return torch::relu(branch + (shortcut_ ? shortcut_(maps) : maps));
  }

 private:
  NormedConv down_, across_, up_;
  NormedConv shortcut_ = nullptr;
};
TORCH_MODULE(Bottleneck);

std::string unit_name(int64_t group, int64_t unit) {
  return "unit" + std::to_string(group + 1) + "_" + std::to_string(unit + 1);
}

// Adds a layer that classifies the means of the maps.
void add_head(nn::Sequential& net, int64_t channels, int64_t classes) {
  net->push_back("mean", nn::Functional([](const Tensor& maps) { return maps.mean({2, 3}); }));
  net->push_back("dense", nn::Linear(channels, classes));
}

void start_he_normal(nn::Module& net, bool by_inputs) {
  const torch::NoGradGuard no_grad;
  for (auto& item : net.named_parameters()) {
    if (item.value().dim() == 4 || (by_inputs && item.value().dim() == 2)) {
      nn::init::kaiming_normal_(
          item.value(), 0.0, by_inputs ? nn::init::FanModeType(torch::kFanIn) : torch::kFanOut);
    }
  }
}

Model whole(nn::Sequential net) {
  return {net.ptr(), [net](const Tensor& inputs) mutable { return net->forward(inputs); }};
}

}  // namespace

Model small_resnet(int64_t depth, int64_t classes) {
  nn::Sequential net;
  net->push_back("stem", NormedConv(3, 16, 3, 1, Normalisation::kBatchNorm));
  net->push_back("relu", nn::ReLU());
  int64_t in = 16;
  for (int64_t group = 0; group < 3; ++group) {
    const int64_t out = int64_t{16} << group;
    for (int64_t unit = 0; unit < (depth - 2) / 6; ++unit) {
      net->push_back(unit_name(group, unit), SmallUnit(in, out));
      in = out;
    }
  }
  add_head(net, in, classes);
  start_he_normal(*net, /*by_inputs=*/true);
  return whole(net);
}

Model resnet50(int64_t classes, Normalisation normalisation) {
  const int64_t units[] = {3, 4, 6, 3};
  nn::Sequential net;
  net->push_back("stem", NormedConv(3, 64, 7, 2, normalisation));
  net->push_back("relu", nn::ReLU());
  net->push_back("pool", nn::MaxPool2d(nn::MaxPool2dOptions(3).stride(2).padding(1)));
  int64_t in = 64;
  for (int64_t group = 0; group < 4; ++group) {
    const int64_t out = int64_t{256} << group;
    for (int64_t unit = 0; unit < units[group]; ++unit) {
      const int64_t stride = group > 0 && unit == 0 ? 2 : 1;
      net->push_back(unit_name(group, unit), Bottleneck(in, out, stride, normalisation));
      in = out;
    }
  }
  add_head(net, in, classes);
  start_he_normal(*net, /*by_inputs=*/false);
  return whole(net);
}

}  // namespace flightdeck::suite::nets
