// SPDX-License-Identifier: MIT
#include "suite/nets/vae.h"

#include <torch/torch.h>

#include "suite/initialise.h"

namespace flightdeck::suite::nets {
namespace {

namespace nn = torch::nn;

constexpr int64_t kPixels = 28 * 28;
constexpr int64_t kLatent = 8;

nn::LeakyReLU leaky() { return nn::LeakyReLU(nn::LeakyReLUOptions().negative_slope(0.3)); }
nn::Conv2d halve(int64_t in) {
  return nn::Conv2d(nn::Conv2dOptions(in, 64, 4).stride(2).padding(1));
}
nn::ConvTranspose2d widen(int64_t stride, int64_t in) {
  return nn::ConvTranspose2d(
      nn::ConvTranspose2dOptions(in, 64, 4).stride(stride).padding(stride == 2 ? 1 : 0));
}
// Pads a 4 x 4 kernel with stride 1 as SAME does, 1 before and 2 after; a negative sign takes that
// off behind its transpose.
nn::ZeroPad2d pad(int64_t sign) {
  return nn::ZeroPad2d(nn::ZeroPad2dOptions({sign, 2 * sign, sign, 2 * sign}));
}

nn::Sequential encoder() {
  return nn::Sequential({
      {"conv1", halve(1)},
      {"leaky1", leaky()},
      {"dropout1", nn::Dropout(0.2)},
      {"conv2", halve(64)},
      {"leaky2", leaky()},
      {"dropout2", nn::Dropout(0.2)},
      {"pad3", pad(1)},
      {"conv3", nn::Conv2d(nn::Conv2dOptions(64, 64, 4))},
      {"leaky3", leaky()},
      {"dropout3", nn::Dropout(0.2)},
      {"flatten", nn::Flatten()},
  });
}

nn::Sequential decoder() {
  return nn::Sequential({
      {"dense1", nn::Linear(kLatent, 24)},
      {"leaky1", leaky()},
      {"dense2", nn::Linear(24, 49)},
      {"leaky2", leaky()},
      {"image", nn::Unflatten(nn::UnflattenOptions(1, {1, 7, 7}))},
      {"deconv1", widen(2, 1)},
      {"relu1", nn::ReLU()},
      {"dropout1", nn::Dropout(0.2)},
      {"deconv2", widen(1, 64)},
      {"crop2", pad(-1)},
      {"relu2", nn::ReLU()},
      {"dropout2", nn::Dropout(0.2)},
      {"deconv3", widen(1, 64)},
      {"crop3", pad(-1)},
      {"relu3", nn::ReLU()},
      {"flatten", nn::Flatten()},
      {"dense3", nn::Linear(64 * 14 * 14, kPixels)},
      {"sigmoid", nn::Sigmoid()},
  });
}

class AutoencoderImpl : public nn::Module {
 public:
  AutoencoderImpl()
      : encoder_(register_module("encoder", encoder())),
        mean_(register_module("mean", nn::Linear(64 * 7 * 7, kLatent))),
        deviation_(register_module("deviation", nn::Linear(64 * 7 * 7, kLatent))),
        decoder_(register_module("decoder", decoder())) {}

  Tensor forward(const Tensor& images) {
    const Tensor code = encoder_->forward(images);
    const Tensor mean = mean_(code), log_deviation = 0.5 * deviation_(code);
    const Tensor latent = mean + torch::randn_like(mean) * log_deviation.exp();
    return torch::cat({decoder_->forward(latent) - images.flatten(1), mean, log_deviation}, 1);
  }

 private:
  nn::Sequential encoder_;
  nn::Linear mean_, deviation_;
  nn::Sequential decoder_;
};
TORCH_MODULE(Autoencoder);

}  // namespace

Model vae() {
  Autoencoder module;
  initialise(
      *module, [](Tensor weight) { nn::init::xavier_uniform_(weight); }, /*bias=*/0.0);
  return {module.ptr(), [module](const Tensor& images) mutable { return module->forward(images); }};
}

Tensor vae_losses(const Tensor& outputs) {
  const Tensor errors = outputs.slice(1, 0, kPixels);
  const Tensor mean = outputs.slice(1, kPixels, kPixels + kLatent);
  const Tensor log_deviation = outputs.slice(1, kPixels + kLatent);
  const Tensor twice = 2.0 * log_deviation;
  const Tensor divergence = -0.5 * (1.0 + twice - mean.square() - twice.exp()).sum(1);
  return errors.square().sum(1) + divergence;
}

}  // namespace flightdeck::suite::nets
