// SPDX-License-Identifier: MIT
// Dead and saturated units of nets whose weights make them known.
#include "quantities/watched_run.h"

namespace flightdeck::tests {
namespace {

namespace nn = torch::nn;

std::shared_ptr<MemorySink> watch_units(nn::Sequential net, const Tensor& inputs) {
  CockpitOptions options;
  options.strict = true;
  Cockpit cockpit(
      net->named_parameters(), {quantity("dead_units"), quantity("saturated_units")}, options);
  auto sink = std::make_shared<MemorySink>();
  cockpit.add_sink(sink);
  const Tensor losses = losses_of(net->forward(inputs));
  StepWatch watch = cockpit.watch(0, losses);
  losses.mean().backward();
  watch.end();
  cockpit.finish();
  return sink;
}

void set_bias(const nn::Sequential& net, const std::string& name, const std::vector<double>& bias) {
  const torch::NoGradGuard guard;
  for (const auto& item : net->named_parameters()) {
    if (item.key() == name) item.value().copy_(at::tensor(bias, at::kDouble));
  }
}

class UnitsTest : public SeededTest {};

TEST_F(UnitsTest, DeadOnesAreZeroForTheWholeBatch) {
  auto net = on_device(
      nn::Sequential(nn::Linear(3, 4), nn::ReLU(), nn::Linear(4, 2), nn::ReLU(), nn::Linear(2, 2)));
  set_bias(net, "0.bias", {-1000, 0, -1000, 1000});
  set_bias(net, "2.bias", {1000000, -1000000});
  const Tensor inputs = random({6, 3});
  inputs[0].fill_(1);
  const auto sink = watch_units(net, inputs);
  const Tensor hidden = net->ptr<nn::LinearImpl>(0)->forward(inputs);
  const double alive = hidden.select(1, 1).max().item<double>() > 0 ? 0 : 1;
  EXPECT_DOUBLE_EQ(sink->number(0, "dead_units", "", "0"), (2 + alive) / 4);
  EXPECT_DOUBLE_EQ(sink->number(0, "dead_units", "", "2"), 0.5);
  EXPECT_DOUBLE_EQ(sink->number(0, "dead_units"), (3 + alive) / 6);
  EXPECT_EQ(sink->find(0, "saturated_units"), nullptr);
}

// A unit is silent where its slope stays below a hundredth or so for every sample.
TEST_F(UnitsTest, SilentOnesOfGeluAndSiluPassNoGradientToSpeakOf) {
  auto net = on_device(
      nn::Sequential(nn::Linear(3, 4), nn::GELU(), nn::Linear(4, 3), nn::SiLU(), nn::Linear(3, 2)));
  set_bias(net, "0.bias", {-8, -2, 0, 5});
  set_bias(net, "2.bias", {-12, -1, 4});
  const Tensor inputs = random({6, 3}) * 0.01;
  const auto sink = watch_units(net, inputs);
  const Tensor first = net->ptr<nn::LinearImpl>(0)->forward(inputs).detach();
  const Tensor second = net->ptr<nn::LinearImpl>(2)->forward(at::gelu(first)).detach();
  const auto silent = [](const Tensor& given, const auto& function) {
    const Tensor x = given.clone().requires_grad_(true);
    function(x).sum().backward();
    return x.grad().abs().amax(0).lt(0.0125).sum().template item<double>();
  };
  const double of_gelu = silent(first, [](const Tensor& x) { return at::gelu(x); });
  const double of_silu = silent(second, [](const Tensor& x) { return at::silu(x); });
  EXPECT_GE(of_gelu, 1);
  EXPECT_GE(of_silu, 1);
  EXPECT_DOUBLE_EQ(sink->number(0, "dead_units", "", "0"), of_gelu / 4);
  EXPECT_DOUBLE_EQ(sink->number(0, "dead_units", "", "2"), of_silu / 3);
  EXPECT_EQ(sink->find(0, "saturated_units"), nullptr);
}

TEST_F(UnitsTest, ChannelsOfAConvolutionAreUnits) {
  auto net = on_device(nn::Sequential(
      nn::Conv2d(nn::Conv2dOptions(1, 4, 3)), nn::ReLU(), nn::Flatten(), nn::Linear(16, 2)));
  set_bias(net, "0.bias", {-1000, 1000, -1000, -1000});
  const auto sink = watch_units(net, random({3, 1, 4, 4}));
  EXPECT_DOUBLE_EQ(sink->number(0, "dead_units"), 0.75);
  EXPECT_DOUBLE_EQ(sink->number(0, "dead_units", "", "0"), 0.75);
}

TEST_F(UnitsTest, SaturatedOnesAreAtABound) {
  auto net = on_device(nn::Sequential(nn::Linear(3, 5),
                                      nn::Sigmoid(),
                                      nn::Linear(5, 4),
                                      nn::Tanh(),
                                      nn::Linear(4, 3),
                                      nn::ReLU6(),
                                      nn::Linear(3, 2),
                                      nn::Hardtanh()));
  set_bias(net, "0.bias", {1000, -1000, 0, 0, 0});
  set_bias(net, "2.bias", {1000, 0, 0, -1000});
  set_bias(net, "4.bias", {3, 1000, -1000});
  set_bias(net, "6.bias", {1000, 1000});
  const Tensor inputs = random({8, 3}) * 0.1;
  const auto sink = watch_units(net, inputs);
  Tensor values = inputs;
  double saturated = 0, entries = 0;
  const std::vector<std::pair<double, double>> bounds = {
      {0.01, 0.99}, {-0.98, 0.98}, {0, 6}, {-1, 1}};
  for (size_t layer = 0; layer < 4; ++layer) {
    values = net->ptr<nn::LinearImpl>(2 * layer)->forward(values);
    if (layer == 0) values = values.sigmoid();
    if (layer == 1) values = values.tanh();
    if (layer >= 2) values = values.clamp(layer == 2 ? 0 : -1, layer == 2 ? 6 : 1);
    const double count =
        ((values <= bounds[layer].first) | (values >= bounds[layer].second)).sum().item<double>();
    expect_number(sink->number(0, "saturated_units", "", std::to_string(2 * layer)),
                  count / static_cast<double>(values.numel()),
                  "layer " + std::to_string(layer));
    saturated += count;
    entries += static_cast<double>(values.numel());
  }
  expect_number(sink->number(0, "saturated_units"), saturated / entries, "all layers");
  EXPECT_GE(saturated, 8 * 8);
  // relu6 is a relu at its lower end.
  expect_number(sink->number(0, "dead_units"), 1.0 / 3, "dead units of relu6");
}

TEST_F(UnitsTest, WithoutNonlinearitiesThereIsNothingToSay) {
  const auto sink = watch_units(on_device(nn::Sequential(nn::Linear(3, 2))), random({4, 3}));
  EXPECT_EQ(sink->find(0, "dead_units"), nullptr);
  EXPECT_EQ(sink->find(0, "saturated_units"), nullptr);
  EXPECT_EQ(sink->notes().size(), 2u);
}

}  // namespace
}  // namespace flightdeck::tests
