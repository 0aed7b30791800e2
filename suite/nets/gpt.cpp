// SPDX-License-Identifier: MIT
// A decoder-only Transformer: 4 layers, d = 128, 4 heads, feed-forward 512 with GELU, layer norm
// before each part, learned positions, a head of its own without bias, dropout 0.1.
#include "suite/nets/gpt.h"

#include <cmath>

#include <torch/torch.h>

#include "suite/initialise.h"
#include "suite/text.h"

namespace flightdeck::suite::nets {
namespace {

namespace nn = torch::nn;

constexpr int64_t kGptWidth = 128;
constexpr int64_t kHeads = 4;
constexpr int64_t kLayers = 4;
constexpr double kGptDropout = 0.1;

nn::LayerNorm norm() { return nn::LayerNorm(nn::LayerNormOptions({kGptWidth})); }

class AttentionImpl : public nn::Module {
 public:
  AttentionImpl()
      : in_(register_module("in", nn::Linear(kGptWidth, 3 * kGptWidth))),
        out_(register_module("out", nn::Linear(kGptWidth, kGptWidth))),
        mask_(register_buffer("mask", torch::full({kTextLength, kTextLength}, -1e9).triu(1))) {}

  Tensor forward(const Tensor& values) {  // [N, T, d]
    const int64_t N = values.size(0), T = values.size(1);
    const auto heads =
        in_(values).view({N, T, 3, kHeads, kGptWidth / kHeads}).permute({2, 0, 3, 1, 4});
    const Tensor q = heads[0], k = heads[1], v = heads[2];  // [N, heads, T, d / heads]
    const double scale = 1.0 / std::sqrt(static_cast<double>(kGptWidth / kHeads));
    const Tensor mask = mask_.slice(0, 0, T).slice(1, 0, T);
    const Tensor weights = torch::softmax(torch::matmul(q, k.transpose(-1, -2)) * scale + mask, -1);
    return out_(torch::matmul(weights, v).transpose(1, 2).reshape({N, T, kGptWidth}));
  }

 private:
  nn::Linear in_, out_;
  Tensor mask_;
};
TORCH_MODULE(Attention);

class BlockImpl : public nn::Module {
 public:
  BlockImpl()
      : norm1_(register_module("norm1", norm())),
        attention_(register_module("attention", Attention())),
        norm2_(register_module("norm2", norm())),
        wide_(register_module("wide", nn::Linear(kGptWidth, 4 * kGptWidth))),
        out_(register_module("out", nn::Linear(4 * kGptWidth, kGptWidth))) {}

  Tensor forward(const Tensor& values) {
    const Tensor attended = values + dropped(attention_(norm1_(values)));
    return attended + dropped(out_(torch::gelu(wide_(norm2_(attended)))));
  }

 private:
  Tensor dropped(const Tensor& values) const {
    return torch::dropout(values, kGptDropout, is_training());
  }

  nn::LayerNorm norm1_;
  Attention attention_;
  nn::LayerNorm norm2_;
  nn::Linear wide_, out_;
};
TORCH_MODULE(Block);

class GptImpl : public nn::Module {
 public:
  GptImpl()
      : characters_(register_module("characters", nn::Embedding(kVocabulary, kGptWidth))),
        positions_(register_module("positions", nn::Embedding(kTextLength, kGptWidth))),
        norm_(register_module("norm", norm())),
        head_(register_module("head",
                              nn::Linear(nn::LinearOptions(kGptWidth, kVocabulary).bias(false)))) {
    for (int64_t i = 0; i < kLayers; ++i) blocks_->push_back(Block());
    register_module("blocks", blocks_);
  }

  Tensor forward(const Tensor& characters) {
    const Tensor places = positions_->weight.slice(0, 0, characters.size(1));
    Tensor values =
        torch::dropout(characters_(characters) + places, kGptDropout, is_training());  // [N, T, d]
    for (const auto& block : *blocks_) values = block->as<Block>()->forward(values);
    return head_(norm_(values)).transpose(1, 2);
  }

 private:
  nn::Embedding characters_, positions_;
  nn::ModuleList blocks_;
  nn::LayerNorm norm_;
  nn::Linear head_;
};
TORCH_MODULE(Gpt);

}  // namespace

Model gpt() {
  Gpt module;
  initialise_matrices(
      *module, [](Tensor weight) { weight.normal_(0.0, 0.02); }, /*bias=*/0.0);
  // What is added to the stream of values, twice a layer, starts smaller.
  const torch::NoGradGuard no_grad;
  for (const auto& item : module->named_parameters()) {
    const std::string& name = item.key();
    const std::string end = "out.weight";
    if (name.size() > end.size() && name.compare(name.size() - end.size(), end.size(), end) == 0) {
      item.value().div_(std::sqrt(2.0 * kLayers));
    }
  }
  return {module.ptr(),
          [module](const Tensor& characters) mutable { return module->forward(characters); }};
}

}  // namespace flightdeck::suite::nets
