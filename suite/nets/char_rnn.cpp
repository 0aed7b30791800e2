// SPDX-License-Identifier: MIT
// DeepOBS's LSTM, step by step: LibTorch's fused one has neither this dropout nor a single bias.
#include "suite/nets/char_rnn.h"

#include <cmath>

#include <torch/torch.h>

#include "suite/initialise.h"
#include "suite/text.h"

namespace flightdeck::suite::nets {
namespace {

namespace nn = torch::nn;

constexpr int64_t kWidth = 128;
constexpr double kDropout = 0.2;

class CharRnnImpl : public nn::Module {
 public:
  CharRnnImpl()
      : embedding_(register_module("embedding", nn::Embedding(kVocabulary, kWidth))),
        layer1_(register_module("layer1", nn::Linear(2 * kWidth, 4 * kWidth))),
        layer2_(register_module("layer2", nn::Linear(2 * kWidth, 4 * kWidth))),
        head_(register_module("head", nn::Linear(kWidth, kVocabulary))) {
    // These are buffers, so that they move and are saved with the network: [layer, c or h, N,
    // width].
    training_state_ = register_buffer("training_state", torch::zeros({2, 2, 0, kWidth}));
    evaluation_state_ = register_buffer("evaluation_state", torch::zeros({2, 2, 0, kWidth}));
  }

  void start_pass() { set_state(torch::zeros({2, 2, 0, kWidth}, head_->weight.options())); }

  Tensor forward(const Tensor& characters) {  // [N, T]
    const Tensor start = state_for(characters.size(0));
    State first{start[0][0], start[0][1]}, second{start[1][0], start[1][1]};
    const Tensor embedded = dropped(embedding_(characters));  // [N, T, width]
    std::vector<Tensor> outputs;
    for (const Tensor& input : embedded.unbind(1)) {
      advance(layer1_, input, first);
      advance(layer2_, dropped(dropped(first.h)), second);
      outputs.push_back(second.h);
    }
    set_state(torch::stack({torch::stack({first.c, first.h}), torch::stack({second.c, second.h})})
                  .detach());
    return head_(dropped(torch::stack(outputs, 1))).transpose(1, 2);
  }

 private:
  struct State {
    Tensor c, h;  // [N, width]
  };

  // Takes a step. Gates come in the order input, candidate, forget, output; the forget gate has 1
  // added to its bias.
  static void advance(nn::Linear& layer, const Tensor& input, State& state) {
    const std::vector<Tensor> gates = layer(torch::cat({input, state.h}, 1)).chunk(4, 1);
    state.c =
        torch::sigmoid(gates[2] + 1.0) * state.c + torch::sigmoid(gates[0]) * torch::tanh(gates[1]);
    state.h = torch::sigmoid(gates[3]) * torch::tanh(state.c);
  }

  Tensor dropped(const Tensor& values) const {
    return torch::dropout(values, kDropout, is_training());
  }

  // Returns zeros where there is no state, or one of another batch size.
  Tensor state_for(int64_t N) {
    const Tensor& kept = state();
    return kept.size(2) == N ? kept : torch::zeros({2, 2, N, kWidth}, kept.options());
  }

  void set_state(const Tensor& values) { state().set_data(values); }

  Tensor& state() { return is_training() ? training_state_ : evaluation_state_; }

  nn::Embedding embedding_;
  nn::Linear layer1_, layer2_, head_;
  Tensor training_state_, evaluation_state_;
};
TORCH_MODULE(CharRnn);

}  // namespace

Model char_rnn() {
  CharRnn module;
  initialise(
      *module, [](Tensor weight) { nn::init::xavier_uniform_(weight); }, /*bias=*/0.0);
  // The softmax layer's bias is drawn like a weight, by DeepOBS's default for variables.
  const double bound = std::sqrt(3.0 / kVocabulary);
  nn::init::uniform_(module->named_parameters()["head.bias"], -bound, bound);
  return {module.ptr(),
          [module](const Tensor& characters) mutable { return module->forward(characters); },
          [module]() mutable { module->start_pass(); }};
}

}  // namespace flightdeck::suite::nets
