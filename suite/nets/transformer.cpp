// SPDX-License-Identifier: MIT
// A Transformer encoder that classifies sequences of bytes, built from LibTorch's own layers as a
// user would: 4 layers, d = 256, 8 heads, feed-forward 1024, T = 64, learned positions, mean over
// positions, 10 classes. Dropout is 0, so two passes over the same batch do the same work.
#include "suite/nets/transformer.h"

#include <torch/torch.h>

namespace flightdeck::suite::nets {
namespace {

constexpr int64_t kVocabulary = 256;
constexpr int64_t kPositions = 64;
constexpr int64_t kTransformerWidth = 256;
constexpr int64_t kClasses = 10;

class ClassifierImpl : public torch::nn::Module {
 public:
  ClassifierImpl()
      : tokens_(register_module("tokens", torch::nn::Embedding(kVocabulary, kTransformerWidth))),
        positions_(register_parameter("positions", torch::randn({kPositions, kTransformerWidth}))),
        encoder_(register_module("encoder", torch::nn::TransformerEncoder(encoder_options()))),
        head_(register_module("head", torch::nn::Linear(kTransformerWidth, kClasses))) {}

  Tensor forward(const Tensor& tokens) {                        // [N, T]
    const Tensor embedded = tokens_(tokens) + positions_;       // [N, T, d]
    const Tensor encoded = encoder_(embedded.transpose(0, 1));  // [T, N, d]
    return head_(encoded.mean(0));                              // [N, C]
  }

 private:
  static torch::nn::TransformerEncoderOptions encoder_options() {
    torch::nn::TransformerEncoderLayerOptions layer(kTransformerWidth, /*nhead=*/8);
    layer.dim_feedforward(1024).dropout(0.0).activation(torch::kGELU);
    return {layer, /*num_layers=*/4};
  }

  torch::nn::Embedding tokens_;
  Tensor positions_;
  torch::nn::TransformerEncoder encoder_;
  torch::nn::Linear head_;
};
TORCH_MODULE(Classifier);

}  // namespace

Model transformer() {
  Classifier classifier;
  return {classifier.ptr(),
          [classifier](const Tensor& tokens) mutable { return classifier->forward(tokens); }};
}

}  // namespace flightdeck::suite::nets
