// SPDX-License-Identifier: MIT
// Graphs that are put together in a wrong way, and right ones beside them.
#include "quantities/short_loop.h"

namespace flightdeck::tests {
namespace {

namespace nn = torch::nn;

class WiringTest : public SeededTest {
 protected:
  // Cross-entropy of the net's outputs, unless another loss is given.
  std::shared_ptr<MemorySink> watch(nn::Sequential net, const Tensor& inputs) {
    ShortLoop loop;
    loop.quantities = {quantity("wiring")};
    loop.parameters = net->named_parameters();
    loop.losses = [=](int64_t) mutable {
      const Tensor outputs = net->forward(inputs);
      if (loss_) return loss_(outputs);
      return cross_entropies(outputs, random_integers({outputs.size(0)}, outputs.size(1)));
    };
    loop.reduced = reduced_;
    return loop.run(1);
  }

  static double fact(const std::shared_ptr<MemorySink>& sink, const std::string& field) {
    return sink->number(0, "wiring", "", field);
  }

  std::function<Tensor(const Tensor&)> loss_;
  std::function<Tensor(const Tensor&)> reduced_ = [](const Tensor& losses) {
    return losses.mean();
  };
};

TEST_F(WiringTest, OfARightNetHasNothingToComplainOf) {
  auto net = on_device(nn::Sequential(nn::Conv2d(1, 3, 3),
                                      nn::ReLU(),
                                      nn::Flatten(),
                                      nn::Linear(12, 5),
                                      nn::Tanh(),
                                      nn::Linear(5, 4)));
  const auto sink = watch(net, random({6, 1, 4, 4}));
  EXPECT_EQ(fact(sink, "layers"), 3);
  EXPECT_EQ(fact(sink, "cross_entropy"), 1);
  EXPECT_EQ(fact(sink, "nonlinearities"), 2);
  for (const char* field : {"linear_pairs",
                            "head_softmax",
                            "head_bounded",
                            "head_no_log",
                            "dropouts",
                            "batch_norms_training",
                            "batch_norms_evaluating",
                            "penalties",
                            "couplings"}) {
    EXPECT_EQ(fact(sink, field), 0) << field;
  }
  EXPECT_GT(sink->number(0, "wiring"), 6);
  EXPECT_DOUBLE_EQ(fact(sink, "loss_weight"), 1);
  EXPECT_TRUE(sink->notes().empty());
}

TEST_F(WiringTest, FindsSoftmaxBeforeCrossEntropy) {
  auto net = on_device(nn::Sequential(nn::Linear(3, 4), nn::Softmax(1)));
  const auto sink = watch(net, random({5, 3}));
  EXPECT_EQ(fact(sink, "head_softmax"), 1);
  EXPECT_EQ(fact(sink, "head_bounded"), 0);
  ASSERT_EQ(remarks_of(*sink, "wiring").size(), 1u);
  EXPECT_EQ(remarks_of(*sink, "wiring")[0].find("the outputs go through softmax twice"), 0u);
}

TEST_F(WiringTest, FindsSigmoidBeforeALossOfLogits) {
  loss_ = [](const Tensor& outputs) {
    return at::binary_cross_entropy_with_logits(
               outputs, at::ones_like(outputs), {}, {}, at::Reduction::None)
        .mean(1);
  };
  const auto twice = on_device(nn::Sequential(nn::Linear(3, 2), nn::Sigmoid()));
  EXPECT_EQ(fact(watch(twice, random({5, 3})), "head_softmax"), 1);
  const auto once = on_device(nn::Sequential(nn::Linear(3, 2)));
  EXPECT_EQ(fact(watch(once, random({5, 3})), "head_softmax"), 0);
}

TEST_F(WiringTest, FindsOutputsThatAreCutOff) {
  for (const char* op : {"relu", "tanh", "sigmoid"}) {
    auto net = on_device(nn::Sequential(nn::Linear(3, 4)));
    if (op == std::string("relu")) net->push_back(nn::ReLU());
    if (op == std::string("tanh")) net->push_back(nn::Tanh());
    if (op == std::string("sigmoid")) net->push_back(nn::Sigmoid());
    const auto sink = watch(net, random({5, 3}));
    EXPECT_EQ(fact(sink, "head_bounded"), 1) << op;
    EXPECT_EQ(fact(sink, "head_softmax"), 0) << op;
  }
}

TEST_F(WiringTest, FindsProbabilitiesWithoutALogarithm) {
  loss_ = [](const Tensor& outputs) {
    const Tensor targets = random_integers({outputs.size(0)}, outputs.size(1));
    return at::nll_loss(at::softmax(outputs, 1), targets, {}, at::Reduction::None);
  };
  const auto net = on_device(nn::Sequential(nn::Linear(3, 4)));
  EXPECT_EQ(fact(watch(net, random({5, 3})), "head_no_log"), 1);
}

TEST_F(WiringTest, FindsLayersWithoutANonlinearityBetweenThem) {
  auto net = on_device(nn::Sequential(
      nn::Linear(6, 8), nn::Linear(8, 7), nn::Dropout(0.5), nn::Linear(7, 5), nn::ReLU()));
  net->push_back(on_device(nn::Linear(5, 4)));
  const auto sink = watch(net, random({9, 6}));
  EXPECT_EQ(fact(sink, "linear_pairs"), 2);
  EXPECT_EQ(fact(sink, "dropouts"), 1);
  const double share = fact(sink, "dropout_share");
  EXPECT_TRUE(share > 0.2 && share < 0.8) << share;
  const std::vector<std::string> texts = remarks_of(*sink, "wiring");
  EXPECT_NE(
      std::find(
          texts.begin(), texts.end(), "'0' and '1' follow one another without a nonlinearity"),
      texts.end());
}

TEST_F(WiringTest, TakesABottleneckForIntended) {
  const auto net = on_device(nn::Sequential(nn::Linear(6, 2), nn::Linear(2, 5)));
  EXPECT_EQ(fact(watch(net, random({5, 6})), "linear_pairs"), 0);
}

TEST_F(WiringTest, TellsTheModeOfBatchNorms) {
  auto net =
      on_device(nn::Sequential(nn::Linear(6, 5), nn::BatchNorm1d(5), nn::ReLU(), nn::Linear(5, 4)));
  auto sink = watch(net, random({7, 6}));
  EXPECT_EQ(fact(sink, "batch_norms_training"), 1);
  EXPECT_EQ(fact(sink, "batch_norms_evaluating"), 0);
  EXPECT_EQ(fact(sink, "couplings"), 1);
  net->eval();
  sink = watch(net, random({7, 6}));
  EXPECT_EQ(fact(sink, "batch_norms_training"), 0);
  EXPECT_EQ(fact(sink, "batch_norms_evaluating"), 1);
}

TEST_F(WiringTest, TellsTheWeightOfTheLoss) {
  const auto net = on_device(nn::Sequential(nn::Linear(3, 4)));
  reduced_ = [](const Tensor& losses) { return losses.sum(); };
  EXPECT_EQ(fact(watch(net, random({5, 3})), "loss_weight"), 5);
  reduced_ = [](const Tensor& losses) { return losses.mean() * 1024; };
  EXPECT_DOUBLE_EQ(fact(watch(net, random({5, 3})), "loss_weight"), 1024);
}

TEST_F(WiringTest, CountsPenalties) {
  auto net = on_device(nn::Sequential(nn::Linear(3, 4)));
  loss_ = [net](const Tensor& outputs) {
    return losses_of(outputs) + net->parameters()[0].square().sum();
  };
  const auto sink = watch(net, random({5, 3}));
  EXPECT_EQ(fact(sink, "penalties"), 1);
  EXPECT_EQ(fact(sink, "cross_entropy"), 0);
}

}  // namespace
}  // namespace flightdeck::tests
