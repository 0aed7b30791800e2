// SPDX-License-Identifier: MIT
// Heads of attention and choices of experts against loops over rows.
#include <algorithm>
#include <cmath>

#include "quantities/short_loop.h"

namespace flightdeck::tests {
namespace {

namespace nn = torch::nn;

class RoutingTest : public SeededTest {
 protected:
  static constexpr int64_t kN = 3, kHeads = 2, kTokens = 4, kFeatures = 5;

  // Scores, weights and losses of one layer of attention, [N, heads, queries, keys].
  struct Attended {
    Tensor scores, weights, losses;
  };

  Attended attend(const Tensor& inputs, bool is_masked, bool is_flat) {
    const auto split = [&](const Tensor& x) {
      return x.view({kN, kTokens, kHeads, kFeatures}).transpose(1, 2);
    };
    const Tensor q = split(at::linear(inputs, query_)), k = split(at::linear(inputs, key_)),
                 v = split(at::linear(inputs, value_));
    Tensor scores = at::matmul(q, k.transpose(-2, -1)) / std::sqrt(double(kFeatures));
    const Tensor allowed = at::ones({kTokens, kTokens}, doubles()).tril() > 0;
    Tensor masked = scores;
    if (is_masked) masked = scores.masked_fill(allowed.logical_not(), -INFINITY);
    if (is_flat) masked = masked.reshape({kN * kHeads, kTokens, kTokens});
    const Tensor weights = at::softmax(masked, -1);
    const Tensor mixed = is_flat ? at::bmm(weights, v.reshape({kN * kHeads, kTokens, kFeatures}))
                                       .view({kN, kHeads, kTokens, kFeatures})
                                 : at::matmul(weights, v);
    const Tensor outputs =
        at::linear(mixed.transpose(1, 2).reshape({kN, kTokens, kHeads * kFeatures}), out_);
    return {
        scores.detach(), weights.detach().view({kN, kHeads, kTokens, kTokens}), losses_of(outputs)};
  }

  ShortLoop loop(const Quantity& quantity) const {
    ShortLoop loop;
    loop.quantities = {quantity};
    loop.parameters = ParameterList()
                          .add("block.query.weight", query_)
                          .add("block.key.weight", key_)
                          .add("block.value.weight", value_)
                          .add("block.out.weight", out_);
    return loop;
  }

  Tensor query_ = random_parameter({kHeads * kFeatures, 6}),
         key_ = random_parameter({kHeads * kFeatures, 6}),
         value_ = random_parameter({kHeads * kFeatures, 6}),
         out_ = random_parameter({6, kHeads*kFeatures});
};

TEST_F(RoutingTest, HeadsHaveTheEntropyOfTheirWeights) {
  for (const bool is_masked : {false, true}) {
    for (const bool is_flat : {false, true}) {
      const Tensor inputs = random({kN, kTokens, 6}) * 2;
      Attended attended;
      ShortLoop one = loop(quantity("attention", {{"exact", true}}));
      one.losses = [&](int64_t) {
        attended = attend(inputs, is_masked, is_flat);
        return attended.losses;
      };
      const auto sink = one.run(1);
      double lowest = INFINITY, mean = 0, largest = 0, spread = 0;
      for (int64_t h = 0; h < kHeads; ++h) {
        double entropy = 0, largest_of_head = 0;
        for (int64_t n = 0; n < kN; ++n) {
          for (int64_t q = 0; q < kTokens; ++q) {
            double high = -INFINITY, low = INFINITY;
            for (int64_t k = 0; k < kTokens; ++k) {
              const double p = number(attended.weights[n][h][q][k]);
              if (p == 0) continue;
              entropy -= p * std::log(p) / double(kN * kTokens);
              const double score = number(attended.scores[n][h][q][k]);
              largest_of_head = std::max(largest_of_head, std::abs(score));
              high = std::max(high, score);
              low = std::min(low, score);
            }
            spread = std::max(spread, high - low);
          }
        }
        mean += entropy / kHeads;
        lowest = std::min(lowest, entropy);
        largest = std::max(largest, largest_of_head);
      }
      const std::string what =
          std::string(is_masked ? "masked" : "free") + (is_flat ? ", heads beside samples" : "");
      expect_number(sink->number(0, "attention"), mean, what + " entropy");
      expect_number(sink->number(0, "attention", "", "largest"), largest, what + " largest");
      std::string layer;
      for (const Reading& reading : sink->steps().at(0)) {
        if (reading.field.rfind("entropy_lowest:", 0) == 0) layer = reading.field.substr(15);
      }
      expect_number(sink->number(0, "attention", "", "entropy_lowest:" + layer),
                    lowest,
                    what + " lowest entropy");
      expect_number(
          sink->number(0, "attention", "", "spread:" + layer), spread, what + " spread", 1e-6);
      EXPECT_EQ(sink->find(0, "attention", "", "heads:" + layer)->list.size(), size_t(kHeads));
    }
  }
}

TEST_F(RoutingTest, ScoresAreLeftAloneUnlessAskedFor) {
  ShortLoop one = loop(quantity("attention"));
  const Tensor inputs = random({kN, kTokens, 6});
  one.losses = [&](int64_t) { return attend(inputs, false, false).losses; };
  const auto sink = one.run(1);
  EXPECT_NE(sink->find(0, "attention"), nullptr);
  EXPECT_EQ(sink->find(0, "attention", "", "largest"), nullptr);
}

TEST_F(RoutingTest, AClassifierHasNoAttention) {
  auto net = on_device(nn::Sequential(nn::Linear(5, 4), nn::Softmax(1), nn::Linear(4, 3)));
  ShortLoop one;
  one.quantities = {quantity("attention"), quantity("experts")};
  one.parameters = net->named_parameters();
  one.losses = [&](int64_t) {
    return cross_entropies(net->forward(random({6, 5})), random_integers({6}, 3));
  };
  const auto sink = one.run(1);
  EXPECT_EQ(sink->find(0, "attention"), nullptr);
  EXPECT_EQ(sink->find(0, "experts"), nullptr);
}

TEST_F(RoutingTest, ExpertsHaveTheLoadOfTheirTokens) {
  constexpr int64_t kExperts = 4, kChosen = 2;
  const Tensor router = random_parameter({kExperts, 6}), weights = random_parameter({kExperts, 6});
  {
    const torch::NoGradGuard guard;
    router[2].fill_(0);
    router[2][0] = -100;
  }
  const Tensor inputs = random({5, 3, 6});
  inputs.select(2, 0).abs_();
  Tensor probabilities, chosen;
  ShortLoop one;
  one.quantities = {quantity("experts")};
  one.parameters = ParameterList().add("router.weight", router).add("experts.weight", weights);
  one.losses = [&](int64_t) {
    probabilities = at::linear(inputs, router).softmax(-1);
    Tensor values;
    std::tie(values, chosen) = probabilities.topk(kChosen, -1);
    const Tensor outputs = weights.index_select(0, chosen.flatten())
                               .view({5, 3, kChosen, 6})
                               .mul(values.unsqueeze(-1))
                               .sum(2);
    return losses_of(outputs);
  };
  const auto sink = one.run(1);
  std::vector<double> load(kExperts);
  const Tensor flat = chosen.flatten();
  for (int64_t k = 0; k < flat.numel(); ++k) load[flat[k].item<int64_t>()] += 1.0 / 30;
  double most = 0, entropy = 0, dead = 0, router_entropy = 0;
  for (const double share : load) {
    most = std::max(most, share);
    if (share > 0) entropy -= share * std::log(share);
    dead += share == 0 ? 1 : 0;
  }
  const Tensor rows = probabilities.detach().view({15, kExperts});
  for (int64_t m = 0; m < 15; ++m) {
    for (int64_t e = 0; e < kExperts; ++e) {
      const double p = number(rows[m][e]);
      router_entropy -= p > 0 ? p * std::log(p) / 15 : 0;
    }
  }
  EXPECT_GE(dead, 1);
  expect_number(sink->number(0, "experts"), most * kExperts, "imbalance");
  EXPECT_EQ(sink->number(0, "experts", "", "dead"), dead);
  expect_number(
      sink->number(0, "experts", "", "load_entropy"), entropy / std::log(4.0), "entropy of loads");
  expect_number(sink->number(0, "experts", "", "router_entropy"),
                router_entropy / std::log(4.0),
                "entropy of the router");
  const Reading* recorded = sink->find(0, "experts", "", "load:router");
  ASSERT_NE(recorded, nullptr);
  for (int64_t e = 0; e < kExperts; ++e) expect_number(recorded->list[e], load[e], "load");
}

TEST_F(RoutingTest, TheLargestProbabilityIsARouterOfOneExpertAndOtherMaximaAreNone) {
  constexpr int64_t kExperts = 4;
  const Tensor router = random_parameter({kExperts, 6}), weights = random_parameter({kExperts, 6});
  const Tensor inputs = random({5, 3, 6});
  Tensor chosen;
  ShortLoop one;
  one.quantities = {quantity("experts")};
  one.parameters = ParameterList().add("router.weight", router).add("experts.weight", weights);
  one.losses = [&](int64_t step) {
    const Tensor scores = at::linear(inputs, router);
    Tensor values;
    std::tie(values, chosen) = (step == 0 ? scores.softmax(-1) : scores.sigmoid()).max(-1);
    return losses_of(weights.index_select(0, chosen.flatten()).view({5, 3, 6}) *
                     values.unsqueeze(-1));
  };
  const auto sink = one.run(2);
  std::vector<double> load(kExperts);
  const Tensor flat = at::linear(inputs, router).argmax(-1).flatten();
  for (int64_t k = 0; k < flat.numel(); ++k) load[flat[k].item<int64_t>()] += 1.0 / 15;
  expect_number(sink->number(0, "experts"),
                *std::max_element(load.begin(), load.end()) * kExperts,
                "imbalance");
  const Reading* recorded = sink->find(0, "experts", "", "load:router");
  ASSERT_NE(recorded, nullptr);
  for (int64_t e = 0; e < kExperts; ++e) expect_number(recorded->list[e], load[e], "load");
  EXPECT_EQ(sink->find(1, "experts"), nullptr);
}

}  // namespace
}  // namespace flightdeck::tests
