// SPDX-License-Identifier: MIT
#include "suite/nets/inception_v3.h"

#include <torch/torch.h>

#include "suite/initialise.h"
#include "suite/resize.h"

namespace flightdeck::suite::nets {
namespace {

namespace nn = torch::nn;

// A stage turns a tensor into a tensor. Stages can be nested; a torch::nn::Sequential cannot hold
// another one.
class StageImpl : public nn::Module {
 public:
  StageImpl() = default;
  virtual Tensor forward(const Tensor& maps) = 0;
};
using Stage = std::shared_ptr<StageImpl>;
using Stages = std::vector<Stage>;

class ChainImpl final : public StageImpl {
 public:
  explicit ChainImpl(Stages stages) : stages_(std::move(stages)) {
    for (size_t i = 0; i < stages_.size(); ++i) {
      register_module("stage" + std::to_string(i + 1), stages_[i]);
    }
  }
  Tensor forward(const Tensor& maps) override {
    Tensor passed = maps;
    for (const Stage& stage : stages_) passed = stage->forward(passed);
    return passed;
  }

 private:
  Stages stages_;
};
Stage chain(Stages stages) { return std::make_shared<ChainImpl>(std::move(stages)); }

class BranchesImpl final : public StageImpl {
 public:
  explicit BranchesImpl(Stages branches) : branches_(std::move(branches)) {
    for (size_t i = 0; i < branches_.size(); ++i) {
      register_module("branch" + std::to_string(i + 1), branches_[i]);
    }
  }
  Tensor forward(const Tensor& maps) override {
    std::vector<Tensor> outputs;
    for (const Stage& branch : branches_) outputs.push_back(branch->forward(maps));
    return torch::cat(outputs, 1);
  }

 private:
  Stages branches_;
};
Stage branches(Stages stages) { return std::make_shared<BranchesImpl>(std::move(stages)); }

// Convolution without bias, batch norm, ReLU. LibTorch's momentum is the weight of the new value.
class ConvImpl final : public StageImpl {
 public:
  explicit ConvImpl(const nn::Conv2dOptions& options)
      : conv_(register_module("conv", nn::Conv2d(options))),
        norm_(register_module(
            "norm",
            nn::BatchNorm2d(
                nn::BatchNorm2dOptions(options.out_channels()).momentum(0.0003).eps(1e-3)))) {}
  Tensor forward(const Tensor& maps) override { return torch::relu(norm_(conv_(maps))); }

 private:
  nn::Conv2d conv_;
  nn::BatchNorm2d norm_;
};

// Makes a convolution that is padded so that the size stays.
Stage same(int64_t in, int64_t out, int64_t height, int64_t width) {
  return std::make_shared<ConvImpl>(
      nn::Conv2dOptions(in, out, {height, width}).padding({height / 2, width / 2}).bias(false));
}
Stage same(int64_t in, int64_t out, int64_t size) { return same(in, out, size, size); }
Stage valid(int64_t in, int64_t out, int64_t size, int64_t stride = 1) {
  return std::make_shared<ConvImpl>(nn::Conv2dOptions(in, out, size).stride(stride).bias(false));
}

class MaxPoolImpl final : public StageImpl {
 public:
  Tensor forward(const Tensor& maps) override { return torch::max_pool2d(maps, 3, 2); }
};
Stage halve() { return std::make_shared<MaxPoolImpl>(); }

// Pools by the mean; at the border that is of the pixels that exist.
class MeanPoolImpl final : public StageImpl {
 public:
  Tensor forward(const Tensor& maps) override {
    return torch::avg_pool2d(maps, 3, 1, 1, /*ceil_mode=*/false, /*count_include_pad=*/false);
  }
};
Stage blur() { return std::make_shared<MeanPoolImpl>(); }

Stage stem() {
  return chain({valid(3, 32, 3, 2),
                valid(32, 32, 3),
                same(32, 64, 3),
                halve(),
                valid(64, 80, 1),
                valid(80, 192, 3),
                halve()});
}

Stage block_35(int64_t in, int64_t pooled) {
  return branches({same(in, 64, 1),
                   chain({blur(), same(in, pooled, 1)}),
                   chain({same(in, 48, 1), same(48, 64, 5)}),
                   chain({same(in, 64, 1), same(64, 96, 3), same(96, 96, 3)})});
}

Stage block_35_to_17() {
  return branches({halve(),
                   valid(288, 384, 3, 2),
                   chain({same(288, 64, 1), same(64, 96, 3), valid(96, 96, 3, 2)})});
}

Stage block_17(int64_t f) {
  return branches({same(768, 192, 1),
                   chain({blur(), same(768, 192, 1)}),
                   chain({same(768, f, 1), same(f, f, 1, 7), same(f, 192, 7, 1)}),
                   chain({same(768, f, 1),
                          same(f, f, 7, 1),
                          same(f, f, 1, 7),
                          same(f, f, 7, 1),
                          same(f, 192, 1, 7)})});
}

Stage block_17_to_8() {
  return branches(
      {halve(),
       chain(
           {same(768, 192, 1), same(192, 192, 1, 7), same(192, 192, 7, 1), valid(192, 192, 3, 2)}),
       chain({same(768, 192, 1), valid(192, 320, 3, 2)})});
}

Stage block_8(int64_t in) {
  const auto cross = [] { return branches({same(384, 384, 1, 3), same(384, 384, 3, 1)}); };
  return branches({same(in, 320, 1),
                   chain({same(in, 384, 1), cross()}),
                   chain({same(in, 448, 1), same(448, 384, 3), cross()}),
                   chain({blur(), same(in, 192, 1)})});
}

class InceptionImpl : public nn::Module {
 public:
  InceptionImpl()
      : front_(register_module("front",
                               chain({stem(),
                                      block_35(192, 32),
                                      block_35(256, 64),
                                      block_35(288, 64),
                                      block_35_to_17(),
                                      block_17(128),
                                      block_17(160),
                                      block_17(160),
                                      block_17(192)}))),
        back_(register_module("back", chain({block_17_to_8(), block_8(1280), block_8(2048)}))),
        dense_(register_module("dense", nn::Linear(2048, kInceptionClasses))),
        aux_(register_module("aux", chain({valid(768, 128, 1), valid(128, 768, 5)}))),
        aux_dense_(register_module("aux_dense", nn::Linear(768, kInceptionClasses))) {}

  Tensor forward(const Tensor& images) {
    const Tensor maps = front_->forward(resize(images, 299, 299));  // [N, 768, 17, 17]
    const Tensor code = back_->forward(maps).mean(at::IntArrayRef({2, 3}));
    const Tensor logits = dense_(torch::dropout(code, 0.2, is_training()));
    if (!is_training()) return logits;
    const Tensor aux = aux_->forward(torch::avg_pool2d(maps, 5, 3));  // [N, 768, 1, 1]
    return torch::cat({logits, aux_dense_(aux.flatten(1))}, 1);
  }

 private:
  Stage front_, back_;
  nn::Linear dense_;
  Stage aux_;
  nn::Linear aux_dense_;
};
TORCH_MODULE(Inception);

Tensor smoothed(const Tensor& logits, const Tensor& labels) {
  namespace F = nn::functional;
  return F::cross_entropy(
      logits, labels, F::CrossEntropyFuncOptions().reduction(torch::kNone).label_smoothing(0.1));
}

}  // namespace

Model inception_v3() {
  Inception module;
  initialise_matrices(
      *module, [](Tensor weight) { nn::init::xavier_uniform_(weight); }, /*bias=*/0.0);
  return {module.ptr(), [module](const Tensor& images) mutable { return module->forward(images); }};
}

Tensor inception_losses(const Tensor& outputs, const Tensor& labels) {
  const Tensor losses = smoothed(outputs.slice(1, 0, kInceptionClasses), labels);
  if (outputs.size(1) == kInceptionClasses) return losses;
  return losses + 0.4 * smoothed(outputs.slice(1, kInceptionClasses), labels);
}

}  // namespace flightdeck::suite::nets
