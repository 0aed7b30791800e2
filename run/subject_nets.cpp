// SPDX-License-Identifier: MIT
#include "run/subject_nets.h"

#include <cmath>
#include <string>
#include <utility>

#include <torch/torch.h>

namespace flightdeck::run {
namespace {

namespace nn = torch::nn;

class BlockImpl : public nn::Module {
 public:
  BlockImpl(std::shared_ptr<NetParts> parts, const TextSizes& sizes, int64_t layer)
      : parts_(std::move(parts)),
        layer_(layer),
        heads_(sizes.heads),
        norm1_(register_module("norm1", nn::LayerNorm(nn::LayerNormOptions({sizes.width})))),
        norm2_(register_module("norm2", nn::LayerNorm(nn::LayerNormOptions({sizes.width})))),
        mixed_(register_module("mixed", nn::Linear(sizes.width, 3 * sizes.width))),
        joined_(register_module("joined", nn::Linear(sizes.width, sizes.width))),
        hidden_(register_module("hidden", nn::Linear(sizes.width, 4 * sizes.width))),
        out_(register_module("out", nn::Linear(4 * sizes.width, sizes.width))) {}

  Tensor forward(const Tensor& values) {
    const Tensor attended = values + attention(norm1_(values));
    const Tensor wide = parts_->activation(hidden_(norm2_(attended)));
    return parts_->between(layer_, attended + out_(wide));
  }

 private:
  Tensor attention(const Tensor& values) {  // [N, T, d]
    const int64_t N = values.size(0), T = values.size(1), d = values.size(2);
    const Tensor heads =
        mixed_(values).view({N, T, 3, heads_, d / heads_}).permute({2, 0, 3, 1, 4});
    const Tensor scores = torch::matmul(heads[0], heads[1].transpose(-1, -2)) /
                          std::sqrt(static_cast<double>(d / heads_));
    const Tensor mask = torch::full({T, T}, -1e9).triu(1);
    const Tensor mixed = torch::matmul(torch::softmax(scores + mask, -1), heads[2]);
    return joined_(mixed.transpose(1, 2).reshape({N, T, d}));
  }

  std::shared_ptr<NetParts> parts_;
  int64_t layer_, heads_;
  nn::LayerNorm norm1_, norm2_;
  nn::Linear mixed_, joined_, hidden_, out_;
};
TORCH_MODULE(Block);

}  // namespace

std::shared_ptr<NetParts> usual_parts(int64_t hidden_layers) {
  auto parts = std::make_shared<NetParts>();
  parts->activation = [](const Tensor& values) { return torch::relu(values); };
  // The parts own this function, so it holds a plain pointer to them: a shared one would be a
  // cycle.
  parts->between = [owner = parts.get()](int64_t, const Tensor& values) {
    const bool is_training = owner->is_training && !owner->is_left_in_evaluation;
    return owner->dropout > 0 ? torch::dropout(values, owner->dropout, is_training) : values;
  };
  parts->head = [](const Tensor& outputs) { return outputs; };
  parts->hidden_layers = hidden_layers;
  return parts;
}

suite::Model dense_net(std::shared_ptr<NetParts> parts, const std::vector<int64_t>& widths) {
  auto module = std::make_shared<nn::Module>("dense");
  std::vector<nn::Linear> layers;
  for (size_t k = 0; k + 1 < widths.size(); ++k) {
    const bool is_last = k + 2 == widths.size();
    layers.push_back(module->register_module(is_last ? "outputs" : "hidden" + std::to_string(k + 1),
                                             nn::Linear(widths[k], widths[k + 1])));
  }
  return {module, [parts, layers](const Tensor& inputs) mutable {
            Tensor values = inputs.flatten(1);
            for (size_t k = 0; k < layers.size(); ++k) {
              values = layers[k](values);
              if (k + 1 == layers.size()) break;
              values = parts->between(static_cast<int64_t>(k), parts->activation(values));
            }
            return parts->head(values);
          }};
}

suite::Model conv_net(std::shared_ptr<NetParts> parts,
                      const ConvSizes& sizes,
                      int64_t side,
                      int64_t classes) {
  auto module = std::make_shared<nn::Module>("conv");
  const auto conv = [&](const char* name, int64_t in, int64_t out) -> nn::Conv2d {
    return module->register_module(name, nn::Conv2d(nn::Conv2dOptions(in, out, 3).padding(1)));
  };
  nn::Conv2d conv1 = conv("hidden1", 1, sizes.first);
  nn::Conv2d conv2 = conv("hidden2", sizes.first, sizes.second);
  const int64_t features = sizes.second * (side / 4) * (side / 4);
  nn::Linear dense = module->register_module("hidden3", nn::Linear(features, sizes.dense));
  nn::Linear outputs = module->register_module("outputs", nn::Linear(sizes.dense, classes));
  return {module, [=](const Tensor& inputs) mutable {
            Tensor values = parts->between(0, parts->activation(conv1(inputs)));
            values = torch::max_pool2d(values, 2);
            values = parts->between(1, parts->activation(conv2(values)));
            values = torch::max_pool2d(values, 2).flatten(1);
            values = parts->between(2, parts->activation(dense(values)));
            return parts->head(outputs(values));
          }};
}

suite::Model text_net(std::shared_ptr<NetParts> parts, const TextSizes& sizes, const Text& text) {
  auto module = std::make_shared<nn::Module>("text");
  nn::Embedding letters =
      module->register_module("letters", nn::Embedding(text.letters, sizes.width));
  nn::Embedding places = module->register_module("places", nn::Embedding(text.length, sizes.width));
  std::vector<Block> blocks;
  for (int64_t k = 0; k < sizes.blocks; ++k) {
    blocks.push_back(
        module->register_module("block" + std::to_string(k + 1), Block(parts, sizes, k)));
  }
  nn::LayerNorm norm =
      module->register_module("norm", nn::LayerNorm(nn::LayerNormOptions({sizes.width})));
  nn::Linear outputs = module->register_module("outputs", nn::Linear(sizes.width, text.letters));
  {
    // Embeddings are as small as usual, because deviation 1 would begin far from equal odds.
    const torch::NoGradGuard no_grad;
    letters->weight.mul_(0.3);
    places->weight.mul_(0.3);
  }
  return {module, [=](const Tensor& inputs) mutable {
            Tensor values = letters(inputs) + places->weight;
            for (Block& block : blocks) values = block(values);
            return parts->head(outputs(norm(values)).transpose(1, 2));  // [N, C, T]
          }};
}

}  // namespace flightdeck::run
