// SPDX-License-Identifier: MIT
// Quantities that look at graphs, on graphs that are not what one expects.
#include "quantities/short_loop.h"

namespace flightdeck::tests {
namespace {

namespace nn = torch::nn;

// Those that need no individual gradients.
std::vector<Quantity> looking() {
  std::vector<Quantity> quantities;
  for (const char* name : {"activation_scale",
                           "attention",
                           "experts",
                           "finite",
                           "inputs",
                           "logits",
                           "spikes",
                           "step_times",
                           "trained",
                           "weight_spectra",
                           "wiring"}) {
    quantities.push_back(quantity(name));
  }
  return quantities;
}

class OddGraphsTest : public SeededTest {
 protected:
  // Strict: what fails is thrown.
  static std::shared_ptr<MemorySink> watch(const Parameters& parameters,
                                           const std::function<Batch()>& make_batch,
                                           int64_t steps = 2) {
    CockpitOptions options;
    options.strict = true;
    Cockpit cockpit(parameters, looking(), options);
    auto sink = std::make_shared<MemorySink>();
    cockpit.add_sink(sink);
    for (int64_t step = 0; step < steps; ++step) {
      clear_gradients(parameters);
      const Batch batch = make_batch();
      StepWatch watch = cockpit.watch(step, batch);
      batch.losses().mean().backward();
      watch.end();
    }
    cockpit.finish();
    return sink;
  }

  nn::Sequential net_ = on_device(nn::Sequential(nn::Linear(5, 6), nn::ReLU(), nn::Linear(6, 3)));
};

TEST_F(OddGraphsTest, OneSampleIsEnough) {
  const auto sink = watch(net_->named_parameters(), [&] {
    return Batch(cross_entropies(net_->forward(random({1, 5})), random_integers({1}, 3)),
                 net_->named_parameters());
  });
  EXPECT_EQ(sink->number(0, "trained"), 1);
  EXPECT_EQ(sink->number(0, "wiring", "", "layers"), 2);
  EXPECT_NE(sink->find(0, "activation_scale", "", "rms:0"), nullptr);
  EXPECT_NE(sink->find(0, "logits", "", "margin"), nullptr);
}

TEST_F(OddGraphsTest, AScalarLossIsRead) {
  const Tensor inputs = random({6, 5}), labels = random_integers({6}, 3);
  for (const auto reduction : {at::Reduction::Mean, at::Reduction::Sum}) {
    const auto sink = watch(net_->named_parameters(), [&] {
      return Batch(at::cross_entropy_loss(net_->forward(inputs), labels, {}, reduction),
                   net_->named_parameters());
    });
    expect_number(
        sink->number(0, "inputs"), std::sqrt(number(inputs.square().mean())), "inputs of a scalar");
    EXPECT_EQ(sink->number(0, "logits", "", "target_classes"),
              static_cast<double>(std::get<0>(at::_unique(labels)).numel()));
    EXPECT_EQ(sink->number(0, "logits", "", "reduction_weight"), 6);
    EXPECT_DOUBLE_EQ(sink->number(0, "wiring", "", "loss_weight"),
                     reduction == at::Reduction::Sum ? 6 : 1);
  }
}

TEST_F(OddGraphsTest, CoarseTypesAreRead) {
  auto net =
      on_device(nn::Sequential(nn::Linear(5, 6), nn::ReLU(), nn::Linear(6, 3)), at::kBFloat16);
  const auto sink = watch(net->named_parameters(), [&] {
    const Tensor outputs = net->forward(random({4, 5}).to(at::kBFloat16));
    return Batch(cross_entropies(outputs.to(at::kFloat), random_integers({4}, 3)),
                 net->named_parameters());
  });
  EXPECT_EQ(sink->number(0, "finite"), 0);
  EXPECT_GT(sink->number(0, "weight_spectra"), 0);
}

TEST_F(OddGraphsTest, BatchNormThatCouplesSamplesIsNoHindrance) {
  auto net =
      on_device(nn::Sequential(nn::Linear(5, 6), nn::BatchNorm1d(6), nn::ReLU(), nn::Linear(6, 3)));
  const auto sink = watch(net->named_parameters(), [&] {
    return Batch(losses_of(net->forward(random({6, 5}))), net->named_parameters());
  });
  EXPECT_EQ(sink->number(0, "wiring", "", "batch_norms_training"), 1);
  EXPECT_EQ(sink->number(0, "trained"), 1);
}

TEST_F(OddGraphsTest, SparseGradientsAreCounted) {
  auto table = on_device(nn::Embedding(nn::EmbeddingOptions(10, 4).sparse(true)));
  const Parameters parameters = ParameterList().add("table", table);
  const auto sink = watch(parameters, [&] {
    return Batch(losses_of(table->forward(random_integers({5, 2}, 10))), parameters);
  });
  EXPECT_EQ(sink->number(0, "trained"), 1);
  EXPECT_NE(sink->find(0, "inputs", "", "distinct"), nullptr);
}

TEST_F(OddGraphsTest, APassThatIsRepeatedCountsOnce) {
  CockpitOptions options;
  options.strict = true;
  Cockpit cockpit(net_->named_parameters(), looking(), options);
  auto sink = std::make_shared<MemorySink>();
  cockpit.add_sink(sink);
  const Tensor losses = losses_of(net_->forward(random({6, 5})));
  {
    const auto watch = cockpit.watch(0, losses);
    losses.mean().backward({}, /*keep_graph=*/true);
    losses.sum().backward();
  }
  cockpit.finish();
  EXPECT_DOUBLE_EQ(sink->number(0, "wiring", "", "loss_weight"), 1);
}

TEST_F(OddGraphsTest, GradientsThatOthersAskForAreNotHeard) {
  CockpitOptions options;
  options.strict = true;
  Cockpit cockpit(net_->named_parameters(), looking(), options);
  auto sink = std::make_shared<MemorySink>();
  cockpit.add_sink(sink);
  const Tensor hidden = net_->forward(random({6, 5}));
  const Tensor losses = losses_of(hidden);
  {
    const auto watch = cockpit.watch(0, losses);
    // Of a part of the graph, past the losses.
    const auto part =
        torch::autograd::grad({hidden.sum() * 1e6}, net_->parameters(), {}, /*retain_graph=*/true);
    losses.mean().backward();
  }
  cockpit.finish();
  EXPECT_LT(sink->number(0, "activation_scale", "", "gradient_largest:2"), 1e3);
}

TEST_F(OddGraphsTest, WithoutABackwardPassNothingIsHeldOrHeard) {
  std::vector<std::string> said;
  CockpitOptions options;
  options.on_warning = [&](const std::string& text) { said.push_back(text); };
  Cockpit cockpit(net_->named_parameters(), looking(), options);
  const Tensor losses = losses_of(net_->forward(random({6, 5})));
  { const auto watch = cockpit.watch(0, losses); }
  losses.mean().backward();
  cockpit.finish();
  EXPECT_EQ(said.size(), 1u);  // that no backward pass went through the losses
}

TEST_F(OddGraphsTest, AQuantityThatFailsWhileItListensIsSwitchedOffAlone) {
  Quantity failing("failing");
  failing.summary("Fails").make([] {
    Quantity::Functions functions;
    functions.look = [](const GraphView& graph) {
      graph.listen(0, [](const std::vector<Tensor>&) { throw std::runtime_error("deaf"); });
    };
    functions.compute = [](const StepView&) { return Value(1.0); };
    return functions;
  });
  std::vector<std::string> said;
  CockpitOptions options;
  options.on_warning = [&](const std::string& text) { said.push_back(text); };
  Cockpit cockpit(net_->named_parameters(), {failing, quantity("wiring")}, options);
  auto sink = std::make_shared<MemorySink>();
  cockpit.add_sink(sink);
  const Tensor losses = losses_of(net_->forward(random({6, 5})));
  {
    const auto watch = cockpit.watch(0, losses);
    losses.mean().backward();
  }
  cockpit.finish();
  EXPECT_EQ(sink->find(0, "failing"), nullptr);
  EXPECT_NE(sink->find(0, "wiring"), nullptr);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_NE(said[0].find("deaf"), std::string::npos);
}

}  // namespace
}  // namespace flightdeck::tests
