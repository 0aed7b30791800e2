// SPDX-License-Identifier: MIT
// Ops without a fast rule and samples that meet each other: still exact, never silent.
#include <torch/csrc/autograd/functions/utils.h>

#include "check_model.h"
#include "errors.h"
#include "graph/torch_compat.h"
#include "passes/layers.h"
#include "tensors.h"

namespace flightdeck::tests {
namespace {

namespace nn = torch::nn;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

class ExoticOps : public SeededTest {};
class OpaqueNodes : public SeededTest {};
class CoupledSamples : public SeededTest {};

// Puts `op` between two linear layers and checks both.
void check_between(const std::function<Tensor(const Tensor&)>& op, int64_t op_outputs) {
  auto before = linear(4, 5);
  auto after = linear(op_outputs, 3);
  check_model(losses_of(after(op(before(random({3, 4}))))),
              ParameterList().add("before", before).add("after", after),
              Path::kExact);
}

TEST_F(ExoticOps, CumulativeSumOverFeaturesIsExact) {
  check_between([](const Tensor& x) { return x.cumsum(1); }, 5);
}

TEST_F(ExoticOps, CumulativeProductOverFeaturesIsExact) {
  check_between([](const Tensor& x) { return x.cumprod(1); }, 5);
}

TEST_F(ExoticOps, DistancesToCodebookAreExact) {
  const Tensor codebook = random_parameter({4, 5});
  auto before = linear(4, 5);
  check_model(losses_of(at::cdist(before(random({3, 4})), codebook)),
              ParameterList().add("before", before).add("codebook", codebook),
              Path::kExact);
}

TEST_F(ExoticOps, LogSumExpIsExact) {
  check_between([](const Tensor& x) { return x.logsumexp(1, /*keepdim=*/true); }, 1);
}

TEST_F(ExoticOps, SortedFeaturesAreExact) {
  check_between([](const Tensor& x) { return std::get<0>(x.sort(1)); }, 5);
}

TEST_F(ExoticOps, LargestFeaturesAreExact) {
  check_between([](const Tensor& x) { return std::get<0>(x.topk(2, 1)); }, 2);
}

TEST_F(ExoticOps, GatheredFeaturesAreExact) {
  const Tensor index = random_integers({3, 4}, 5);
  check_between([index](const Tensor& x) { return x.gather(1, index); }, 4);
}

TEST_F(ExoticOps, FourierTransformIsExact) {
  check_between([](const Tensor& x) { return at::view_as_real(at::fft_rfft(x, {}, 1)).flatten(1); },
                6);
}

TEST_F(ExoticOps, BatchedLinearSolveIsExact) {
  const Tensor matrix = random({3, 5, 5}) + 4.0 * at::eye(5, doubles());
  check_between(
      [matrix](const Tensor& x) { return at::linalg_solve(matrix, x.unsqueeze(2)).squeeze(2); }, 5);
}

TEST_F(ExoticOps, InverseOfParameterIsExact) {
  const Tensor matrix = (random({4, 4}) + 4.0 * at::eye(4, doubles())).requires_grad_(true);
  check_model(losses_of(at::matmul(random({3, 4}), at::linalg_inv(matrix))),
              std::vector<Tensor>{matrix},
              Path::kExact);
}

TEST_F(ExoticOps, BilinearLayerIsExact) {
  auto layer = on_device(nn::Bilinear(3, 4, 2));
  check_model(
      losses_of(layer(random({3, 3}), random({3, 4}))), layer->named_parameters(), Path::kExact);
}

TEST_F(ExoticOps, ActivationZooIsExact) {
  const auto zoo = [](const Tensor& x) {
    return at::cat({at::gelu(x),
                    at::silu(x),
                    at::elu(x),
                    at::softplus(x),
                    at::mish(x),
                    at::hardtanh(x),
                    at::leaky_relu(x, 0.1),
                    at::log_sigmoid(x),
                    at::hardswish(x),
                    at::softmax(x, 1),
                    at::log_softmax(x, 1),
                    at::erf(x),
                    x.abs(),
                    x.clamp(-0.3, 0.4)},
                   1);
  };
  check_between(zoo, 14 * 5);
}

TEST_F(ExoticOps, ReductionZooIsExact) {
  const auto zoo = [](const Tensor& x) {
    return at::stack({x.mean(1),
                      x.amax(1),
                      std::get<0>(x.min(1)),
                      x.norm(2, 1),
                      x.var(1),
                      x.std(1),
                      x.prod(1),
                      x.square().sum(1).sqrt()},
                     1);
  };
  check_between(zoo, 8);
}

TEST_F(ExoticOps, PoolingAndResizingZooIsExact) {
  auto layer = on_device(nn::Conv2d(nn::Conv2dOptions(2, 2, 3).padding(1)));
  namespace F = torch::nn::functional;
  const Tensor image = layer(random({3, 2, 6, 6}));
  const auto doubled = std::vector<double>{2.0, 2.0};
  const std::vector<Tensor> outputs = {
      at::max_pool2d(image, 3, 2, 1).flatten(1),
      at::avg_pool2d(image, 3, 2, 1).flatten(1),
      at::adaptive_avg_pool2d(image, {3, 2}).flatten(1),
      std::get<0>(at::adaptive_max_pool2d(image, {2, 3})).flatten(1),
      F::interpolate(image, F::InterpolateFuncOptions().scale_factor(doubled)).flatten(1),
      at::pixel_shuffle(image.repeat({1, 2, 1, 1}), 2).flatten(1),
      at::reflection_pad2d(image, {1, 2, 0, 1}).flatten(1),
      at::im2col(image, {2, 2}, {1, 1}, {0, 0}, {1, 1}).flatten(1)};
  check_model(losses_of(at::cat(outputs, 1)), layer->named_parameters(), Path::kExact);
}

// y = x W with a backward pass of its own, which the engine cannot look into.
struct OpaqueProduct : torch::autograd::Function<OpaqueProduct> {
  static Tensor forward(AutogradContext* context, Tensor input, Tensor weight) {
    context->save_for_backward({input, weight});
    return input.matmul(weight);
  }
  static variable_list backward(AutogradContext* context, variable_list output_gradients) {
    const auto saved = context->get_saved_variables();
    const Tensor& gradient = output_gradients[0];
    return {gradient.matmul(saved[1].t()), saved[0].t().matmul(gradient)};
  }
};

TEST_F(OpaqueNodes, CustomFunctionOverParameterIsExactAndReportedSlow) {
  auto before = linear(4, 5);
  const Tensor weight = random_parameter({5, 3});
  const Tensor losses = losses_of(OpaqueProduct::apply(before(random({3, 4})).tanh(), weight));
  const Parameters parameters = ParameterList().add("before", before).add("opaque", weight);
  check_model(losses, parameters, Path::kExact);

  const Coverage report = coverage(losses, parameters, Need::kNorms);
  EXPECT_EQ(report.parameters.back().name, "opaque");
  EXPECT_EQ(report.parameters.back().level, CoverageLevel::kExactSlow);
  EXPECT_NE(report.text().find("exact-slow"), std::string::npos) << report.text();
}

// The identity forwards, the reversed gradient backwards: no layout rule can be guessed for it.
struct ReversedGradient : torch::autograd::Function<ReversedGradient> {
  static Tensor forward(AutogradContext*, Tensor input) { return input.clone(); }
  static variable_list backward(AutogradContext*, variable_list output_gradients) {
    return {-0.5 * output_gradients[0]};
  }
};

TEST_F(OpaqueNodes, CustomFunctionOverActivationsIsExact) {
  check_between([](const Tensor& x) { return ReversedGradient::apply(x); }, 5);
}

// Mixes the samples in a node nobody can look into.
struct OpaqueBatchMean : torch::autograd::Function<OpaqueBatchMean> {
  static Tensor forward(AutogradContext*, Tensor input) {
    return input - input.mean(0, /*keepdim=*/true);
  }
  static variable_list backward(AutogradContext*, variable_list output_gradients) {
    return {output_gradients[0] - output_gradients[0].mean(0, /*keepdim=*/true)};
  }
};

TEST_F(CoupledSamples, AreExactInsideCustomFunction) {
  check_between([](const Tensor& x) { return OpaqueBatchMean::apply(x); }, 5);
}

TEST_F(CoupledSamples, AreExactWhenTheBatchMeanIsSubtracted) {
  check_between([](const Tensor& x) { return x - x.mean(0, /*keepdim=*/true); }, 5);
}

TEST_F(CoupledSamples, AreExactForSoftmaxAcrossTheBatch) {
  check_between([](const Tensor& x) { return x.softmax(0); }, 5);
}

TEST_F(CoupledSamples, AreExactWhenReordered) {
  const Tensor order = at::tensor({2, 0, 1}, at::kLong).to(test_device());
  check_between([order](const Tensor& x) { return x + 0.5 * x.index_select(0, order); }, 5);
}

TEST_F(CoupledSamples, AreExactWhenFlippedAndRolled) {
  check_between([](const Tensor& x) { return x.flip(0).tanh() + x.roll(1, 0); }, 5);
}

TEST_F(CoupledSamples, AreExactForCumulativeSumOverTheBatch) {
  check_between([](const Tensor& x) { return x.cumsum(0); }, 5);
}

TEST_F(CoupledSamples, AreExactForContrastiveLoss) {
  auto encoder = linear(4, 3);
  const Tensor left = encoder(random({3, 4})).tanh();
  const Tensor right = encoder(random({3, 4})).tanh();
  const Tensor similarities = at::matmul(left, right.t());  // [N, N]
  const Tensor losses = -similarities.log_softmax(1).diagonal();
  check_model(losses, encoder->named_parameters(), Path::kExact);
}

TEST_F(CoupledSamples, AreExactWhenAParameterMixesThem) {
  const Tensor mixing = random_parameter({3, 3});
  auto after = linear(4, 2);
  check_model(losses_of(after(at::matmul(mixing, random({3, 4})).tanh())),
              ParameterList().add("mixing", mixing).add("after", after),
              Path::kExact);
}

TEST_F(CoupledSamples, AreExactForTripletsCutFromOneBatch) {
  auto encoder = linear(4, 3);
  const Tensor codes = encoder(random({9, 4})).tanh();  // three stacked groups of N
  const Tensor near = (codes.slice(0, 0, 3) - codes.slice(0, 3, 6)).square().sum(1);
  const Tensor far = (codes.slice(0, 0, 3) - codes.slice(0, 6, 9)).square().sum(1);
  check_model(at::softplus(near - far + 1.0), encoder->named_parameters(), Path::kExact);
}

TEST_F(CoupledSamples, AreExactForMessagesBetweenNodes) {
  auto layer = linear(4, 4);
  const Tensor adjacency = (random({4, 4}) > 0.0).to(at::kDouble);
  const Tensor hidden = at::matmul(adjacency, layer(random({4, 4}))).tanh();
  check_model(losses_of(layer(hidden)), layer->named_parameters(), Path::kExact);
}

// ---- nodes that stand for calls between ranks ---------------------------------------------------

// Twice its input; has another's name.
struct Masked : torch::autograd::Node {
  std::string called;
  int64_t calls = 0;
  variable_list apply(variable_list&& gradients) override {
    ++calls;
    return {2 * gradients[0]};
  }
  std::string name() const override { return called; }
};

TEST_F(OpaqueNodes, RefusesToCallWhatWaitsForOtherRanksOncePerSample) {
  for (const char* name : {"SyncBatchNormBackward", "_AllReduceBackward", "_AllGatherBackward"}) {
    const Tensor w = random_parameter({3, 2}), below = random({4, 3}).mm(w);
    auto* node = new Masked();
    const compat::NodePtr owner = compat::take_new(node);
    node->called = name;
    node->set_next_edges(torch::autograd::collect_next_edges(below));
    Tensor output = below.detach() * 2;
    torch::autograd::set_history(output, owner);
    const Tensor losses = output.square().sum(1);
    expect_error(
        [&] {
          (void)gradients(losses, Parameters({{"w", w}}), Need::kNorms);
        },
        {name, "exchanges tensors between ranks", "BatchNorm in place of SyncBatchNorm"});
    EXPECT_EQ(node->calls, 0);
  }
}

}  // namespace
}  // namespace flightdeck::tests
