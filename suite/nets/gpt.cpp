// SPDX-License-Identifier: MIT
// Decoder-only Transformers: feed-forward parts with GELU, layer norm before each part, learned
// positions, a head without bias.
#include "suite/nets/gpt.h"

#include <cmath>

#include <torch/torch.h>

#include "suite/initialise.h"
#include "suite/text.h"

namespace flightdeck::suite::nets {
namespace {

namespace nn = torch::nn;

nn::LayerNorm norm(const GptSize& size) {
  return nn::LayerNorm(nn::LayerNormOptions({size.width}));
}

class AttentionImpl : public nn::Module {
 public:
  explicit AttentionImpl(const GptSize& size)
      : size_(size),
        in_(register_module("in", nn::Linear(size.width, 3 * size.width))),
        out_(register_module("out", nn::Linear(size.width, size.width))),
        mask_(register_buffer("mask", torch::full({size.length, size.length}, -1e9).triu(1))) {}

  Tensor forward(const Tensor& values) {  // [N, T, d]
    const int64_t N = values.size(0), T = values.size(1);
    const int64_t each = size_.width / size_.heads;
    const auto heads = in_(values).view({N, T, 3, size_.heads, each}).permute({2, 0, 3, 1, 4});
    const Tensor q = heads[0], k = heads[1], v = heads[2];  // [N, heads, T, d / heads]
    const double scale = 1.0 / std::sqrt(static_cast<double>(each));
    const Tensor mask = mask_.slice(0, 0, T).slice(1, 0, T);
    const Tensor weights = torch::softmax(torch::matmul(q, k.transpose(-1, -2)) * scale + mask, -1);
    return out_(torch::matmul(weights, v).transpose(1, 2).reshape({N, T, size_.width}));
  }

 private:
  GptSize size_;
  nn::Linear in_, out_;
  Tensor mask_;
};
TORCH_MODULE(Attention);

class BlockImpl : public nn::Module {
 public:
  explicit BlockImpl(const GptSize& size)
      : dropout_(size.dropout),
        norm1_(register_module("norm1", norm(size))),
        attention_(register_module("attention", Attention(size))),
        norm2_(register_module("norm2", norm(size))),
        wide_(register_module("wide", nn::Linear(size.width, 4 * size.width))),
        out_(register_module("out", nn::Linear(4 * size.width, size.width))) {}

  Tensor forward(const Tensor& values) {
    const Tensor attended = values + dropped(attention_(norm1_(values)));
    return attended + dropped(out_(torch::gelu(wide_(norm2_(attended)))));
  }

 private:
  Tensor dropped(const Tensor& values) const {
    return torch::dropout(values, dropout_, is_training());
  }

  double dropout_;
  nn::LayerNorm norm1_;
  Attention attention_;
  nn::LayerNorm norm2_;
  nn::Linear wide_, out_;
};
TORCH_MODULE(Block);

class GptImpl : public nn::Module {
 public:
  explicit GptImpl(const GptSize& size)
      : dropout_(size.dropout),
        characters_(register_module("characters", nn::Embedding(size.vocabulary, size.width))),
        positions_(register_module("positions", nn::Embedding(size.length, size.width))),
        norm_(register_module("norm", norm(size))) {
    if (!size.is_tied) {
      const auto options = nn::LinearOptions(size.width, size.vocabulary).bias(false);
      head_ = register_module("head", nn::Linear(options));
    }
    for (int64_t i = 0; i < size.layers; ++i) blocks_->push_back(Block(size));
    register_module("blocks", blocks_);
  }

  Tensor forward(const Tensor& characters) {
    const Tensor places = positions_->weight.slice(0, 0, characters.size(1));
    Tensor values =
        torch::dropout(characters_(characters) + places, dropout_, is_training());  // [N, T, d]
    for (const auto& block : *blocks_) values = block->as<Block>()->forward(values);
    const Tensor& to_characters = head_.is_empty() ? characters_->weight : head_->weight;
    return torch::linear(norm_(values), to_characters).transpose(1, 2);
  }

 private:
  double dropout_;
  nn::Embedding characters_, positions_;
  nn::ModuleList blocks_;
  nn::LayerNorm norm_;
  nn::Linear head_{nullptr};
};
TORCH_MODULE(Gpt);

}  // namespace

Model gpt() { return gpt_of(GptSize{kVocabulary, kTextLength, 128, 4, 4, 0.1, false}); }

Model gpt_of(const GptSize& size) {
  Gpt module(size);
  initialise_matrices(
      *module, [](Tensor weight) { weight.normal_(0.0, 0.02); }, /*bias=*/0.0);
  // The layers that add to the stream of values, two in each block, start smaller.
  const torch::NoGradGuard no_grad;
  for (const auto& item : module->named_parameters()) {
    const std::string& name = item.key();
    const std::string end = "out.weight";
    if (name.size() > end.size() && name.compare(name.size() - end.size(), end.size(), end) == 0) {
      item.value().div_(std::sqrt(2.0 * static_cast<double>(size.layers)));
    }
  }
  return {module.ptr(),
          [module](const Tensor& characters) mutable { return module->forward(characters); }};
}

}  // namespace flightdeck::suite::nets
