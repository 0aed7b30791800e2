// SPDX-License-Identifier: MIT
// What flows through layers, forwards and backwards: sizes, and the first number that is none.
#include <limits>

#include "quantities/short_loop.h"

namespace flightdeck::tests {
namespace {

namespace nn = torch::nn;

class SignalsTest : public SeededTest {
 protected:
  static std::shared_ptr<MemorySink> watch(const Parameters& parameters,
                                           const Quantity& quantity,
                                           const std::function<Tensor()>& losses,
                                           int64_t steps = 1) {
    ShortLoop loop;
    loop.quantities = {quantity};
    loop.parameters = parameters;
    loop.losses = [&](int64_t) { return losses(); };
    return loop.run(steps);
  }
};

// ---- activation_scale ---------------------------------------------------------------------------

// Moments of a tensor, one entry after the other.
void expect_scale(const std::shared_ptr<MemorySink>& sink,
                  const std::string& layer,
                  const Tensor& activation) {
  const Tensor flat = activation.detach().flatten().cpu();
  const auto count = static_cast<double>(flat.numel());
  double sum = 0, squares = 0, largest = 0;
  for (int64_t k = 0; k < flat.numel(); ++k) {
    const double x = number(flat[k]);
    sum += x;
    squares += x * x;
    largest = std::max(largest, std::abs(x));
  }
  const double mean = sum / count;
  double second = 0, fourth = 0;
  for (int64_t k = 0; k < flat.numel(); ++k) {
    const double x = number(flat[k]) - mean;
    second += x * x / count;
    fourth += x * x * x * x / count;
  }
  const auto field = [&](const char* name) {
    return sink->number(0, "activation_scale", "", name + (":" + layer));
  };
  expect_number(field("rms"), std::sqrt(squares / count), "rms of " + layer);
  expect_number(field("mean"), mean, "mean of " + layer);
  expect_number(field("largest"), largest, "largest of " + layer);
  expect_number(field("variance"), second, "variance of " + layer);
  expect_number(field("kurtosis"), fourth / (second * second), "kurtosis of " + layer);
}

void expect_gradient(const std::shared_ptr<MemorySink>& sink,
                     const std::string& layer,
                     const Tensor& gradient) {
  const auto field = [&](const char* name) {
    return sink->number(0, "activation_scale", "", name + (":" + layer));
  };
  expect_number(
      field("gradient_rms"), std::sqrt(number(gradient.square().mean())), "gradient of " + layer);
  expect_number(field("gradient_largest"), number(gradient.abs().max()), "largest of " + layer);
  const Tensor squares = (gradient - gradient.mean()).square();
  const double variance = number(squares.mean());
  expect_number(field("gradient_variance"), variance, "variance of the gradient of " + layer);
  expect_number(field("gradient_kurtosis"),
                number(squares.square().mean()) / (variance * variance),
                "kurtosis of the gradient of " + layer);
}

TEST_F(SignalsTest, ActivationsAreThoseBehindTheNonlinearityOfALayer) {
  auto net = on_device(nn::Sequential(nn::Conv2d(1, 3, 3),
                                      nn::ReLU(),
                                      nn::Flatten(),
                                      nn::Linear(12, 5),
                                      nn::Tanh(),
                                      nn::Linear(5, 4)));
  const Tensor inputs = random({6, 1, 4, 4}), labels = random_integers({6}, 4);
  const auto sink = watch(net->named_parameters(), quantity("activation_scale"), [&] {
    return cross_entropies(net->forward(inputs), labels);
  });
  std::vector<Tensor> outputs = {inputs};
  for (const auto& module : *net) {
    outputs.push_back(torch::nn::AnyModule(module).forward(outputs.back()));
    if (outputs.back().requires_grad()) outputs.back().retain_grad();
  }
  cross_entropies(outputs.back(), labels).mean().backward();
  expect_scale(sink, "0", outputs[2]);
  expect_scale(sink, "3", outputs[5]);
  expect_gradient(sink, "0", outputs[3].grad());
  expect_gradient(sink, "3", outputs[5].grad());
  expect_gradient(sink, "5", outputs[6].grad());
  EXPECT_EQ(sink->find(0, "activation_scale", "", "rms:5"), nullptr);
  const auto rms = [](const Tensor& tensor) { return std::sqrt(number(tensor.square().mean())); };
  expect_number(sink->number(0, "activation_scale", "", "gradient_ratio"),
                rms(outputs[3].grad()) / rms(outputs[6].grad()),
                "ratio of gradients");
  const double first = rms(outputs[2]), second = rms(outputs[5]);
  expect_number(sink->number(0, "activation_scale", "", "rms_ratio"),
                std::max(first, second) / std::min(first, second),
                "ratio of activations");
}

TEST_F(SignalsTest, GradientsOfActivationsBelongToTheMeanLoss) {
  auto net = on_device(nn::Sequential(nn::Linear(4, 5), nn::Sigmoid(), nn::Linear(5, 3)));
  const Tensor inputs = random({7, 4}), labels = random_integers({7}, 3);
  ShortLoop loop;
  loop.quantities = {quantity("activation_scale")};
  loop.parameters = net->named_parameters();
  loop.losses = [&](int64_t) { return cross_entropies(net->forward(inputs), labels); };
  const double mean = loop.run(1)->number(0, "activation_scale", "", "gradient_rms:0");
  loop.reduced = [](const Tensor& losses) { return 1000 * losses.sum(); };
  const double scaled = loop.run(1)->number(0, "activation_scale", "", "gradient_rms:0");
  expect_number(scaled, mean, "gradient of a scaled sum");
}

TEST_F(SignalsTest, UsesOfOneParameterAreOneLayer) {
  auto net = on_device(nn::Linear(4, 4));
  const Tensor inputs = random({5, 4});
  std::vector<Tensor> hidden;
  const auto sink = watch(net->named_parameters(""), quantity("activation_scale"), [&] {
    hidden = {inputs};
    for (int k = 0; k < 3; ++k) hidden.push_back(net->forward(hidden.back()).tanh());
    return losses_of(hidden.back());
  });
  double squares = 0;
  for (int k = 1; k < 4; ++k) squares += number(hidden[k].detach().square().mean()) / 3;
  expect_number(sink->number(0, "activation_scale"), std::sqrt(squares), "three uses");
}

// ---- finite -------------------------------------------------------------------------------------

TEST_F(SignalsTest, WhereAllIsFiniteNothingIsSaid) {
  auto net = on_device(nn::Sequential(nn::Linear(4, 5), nn::ReLU(), nn::Linear(5, 3)));
  const auto sink = watch(net->named_parameters(), quantity("finite"), [&] {
    return losses_of(net->forward(random({6, 4})));
  });
  EXPECT_EQ(sink->number(0, "finite"), 0);
  EXPECT_EQ(sink->number(0, "finite", "", "forward"), 0);
  EXPECT_EQ(sink->number(0, "finite", "", "backward"), 0);
  EXPECT_DOUBLE_EQ(sink->number(0, "finite", "", "loss_scale"), 1);
  EXPECT_TRUE(sink->notes().empty());
}

TEST_F(SignalsTest, TheFirstInputThatIsNotFiniteIsNamed) {
  auto net = on_device(nn::Sequential(nn::Linear(4, 5), nn::ReLU(), nn::Linear(5, 3)));
  const Tensor inputs = random({6, 4});
  inputs[4][1] = NAN;
  const auto sink = watch(
      net->named_parameters(),
      quantity("finite"),
      [&] { return losses_of(net->forward(inputs)); },
      3);
  const std::vector<std::string> texts = remarks_of(*sink, "finite");
  ASSERT_EQ(texts.size(), 1u);
  EXPECT_EQ(texts[0].find("first not finite: the inputs, 1 of 24 entries"), 0u) << texts[0];
  EXPECT_EQ(sink->number(0, "finite", "", "first_sample"), 4);
}

TEST_F(SignalsTest, AnOverflowInTheForwardPassIsNamedByLayerAndSample) {
  auto net = on_device(nn::Sequential(nn::Linear(4, 5), nn::ReLU(), nn::Linear(5, 3), nn::ReLU()));
  {
    const torch::NoGradGuard guard;
    net->named_parameters()["0.weight"].fill_(1e200);
    net->named_parameters()["2.weight"].fill_(1);
    net->named_parameters()["2.bias"].fill_(0);
  }
  const Tensor inputs = at::ones({6, 4}, doubles());
  inputs[3].fill_(1e150);
  const auto sink = watch(
      net->named_parameters(), quantity("finite"), [&] { return losses_of(net->forward(inputs)); });
  EXPECT_EQ(sink->number(0, "finite", "", "forward"), 5 + 3);
  const std::vector<std::string> texts = remarks_of(*sink, "finite");
  ASSERT_EQ(texts.size(), 1u);
  EXPECT_EQ(texts[0].find("first not finite: output of relu of layer '0', 5 of 30 entries"), 0u)
      << texts[0];
  EXPECT_NE(texts[0].find("first in place 3 of the batch"), std::string::npos) << texts[0];
}

TEST_F(SignalsTest, CountsAndSharesAreThoseOfALayersGroupToo) {
  auto net = on_device(nn::Sequential(nn::Linear(4, 5), nn::ReLU(), nn::Linear(5, 3), nn::ReLU()));
  {
    const torch::NoGradGuard guard;
    net->named_parameters()["0.weight"].fill_(1);
    net->named_parameters()["0.bias"].fill_(0);
    net->named_parameters()["2.weight"].fill_(INFINITY);
  }
  ShortLoop loop;
  loop.quantities = {quantity("finite", {{"type", "float8_e4m3"}})};
  loop.parameters = net->named_parameters();
  loop.grouping = Grouping::by_module();
  const Tensor inputs = at::full({6, 4}, 10.0, doubles());
  loop.losses = [&](int64_t) { return losses_of(net->forward(inputs)); };
  const auto sink = loop.run(1);
  // The first layer gives 40, which is over 28 and finite; the second one infinity alone.
  EXPECT_EQ(sink->number(0, "finite", "0", "overflow_near"), 1);
  EXPECT_EQ(sink->number(0, "finite", "2", "overflow_near"), 0);
  EXPECT_GE(sink->number(0, "finite", "2"), 6 * 3);
  EXPECT_GE(sink->number(0, "finite"),
            sink->number(0, "finite", "0") + sink->number(0, "finite", "2"));
  EXPECT_EQ(sink->number(0, "finite", "", "first_sample"), 0);
}

// sqrt has an infinite slope at 0: all is well forwards.
TEST_F(SignalsTest, ANumberThatGoesBadBackwardsIsFoundThere) {
  const Tensor weight = random_parameter({4, 3});
  const Tensor inputs = random({5, 4});
  inputs[2].zero_();
  const auto sink = watch(ParameterList().add("layer.weight", weight), quantity("finite"), [&] {
    return inputs.matmul(weight).square().sqrt().sum(1);
  });
  EXPECT_EQ(sink->number(0, "finite", "", "forward"), 0);
  EXPECT_GT(sink->number(0, "finite", "", "backward"), 0);
  const std::vector<std::string> texts = remarks_of(*sink, "finite");
  ASSERT_EQ(texts.size(), 1u);
  EXPECT_EQ(texts[0].find("first not finite: backward, the gradient of the output of pow"), 0u)
      << texts[0];
}

TEST_F(SignalsTest, SharesNearTheBoundsAreThoseOfTheChosenType) {
  auto net = on_device(nn::Sequential(nn::Linear(4, 4), nn::ReLU(), nn::Linear(4, 3)));
  const Tensor inputs = random({6, 4});
  const auto run = [&](const char* type, double scale) {
    return watch(net->named_parameters(), quantity("finite", {{"type", type}}), [&] {
      return losses_of(net->forward(inputs * scale)) * 1e-7;
    });
  };
  const Tensor scaled = inputs * 1e5;
  const Tensor hidden = net->ptr<nn::LinearImpl>(0)->forward(scaled).relu();
  const Tensor outputs = net->forward(scaled);  // the loss keeps them
  const double limit = 65504.0 / 16;
  const auto above = [&](const Tensor& values) { return number((values.abs() > limit).sum()); };
  expect_number(run("float16", 1e5)->number(0, "finite", "", "overflow_near"),
                (above(scaled) + above(hidden) + above(outputs)) /
                    static_cast<double>(scaled.numel() + hidden.numel() + outputs.numel()),
                "near overflow");
  EXPECT_EQ(run("own", 1e5)->number(0, "finite", "", "overflow_near"), 0);
  EXPECT_GT(run("float16", 1)->number(0, "finite", "", "underflow"), 0.5);
  EXPECT_EQ(run("own", 1)->number(0, "finite", "", "underflow"), 0);
}

TEST_F(SignalsTest, RangesOfEightBitsAreThoseOfTheirLargestAndSmallestNormalNumbers) {
  const Tensor weight = random_parameter({4, 3});
  const Tensor inputs = at::tensor({27.9, 28.1, 3583.0, 3585.0}, doubles()).view({1, 4});
  const auto near = [&](const char* type) {
    const auto sink = watch(ParameterList().add("layer.weight", weight),
                            quantity("finite", {{"type", type}}),
                            [&] { return (inputs.matmul(weight) * 1e-9).sum(1); });
    return sink->number(0, "finite", "", "overflow_near");
  };
  // 448 / 16 = 28 and 57344 / 16 = 3584; of what the graph keeps the inputs alone are large.
  EXPECT_EQ(near("float8_e4m3"), 3 * near("float8_e5m2"));
  EXPECT_GT(near("float8_e5m2"), 0);
  EXPECT_EQ(near("float16"), 0);
}

}  // namespace
}  // namespace flightdeck::tests
