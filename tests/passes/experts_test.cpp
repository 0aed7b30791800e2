// SPDX-License-Identifier: MIT
// Tokens of all samples that go through a layer in any order and come back to their places:
// mixtures of experts, packed sequences, shuffled batches.
#include <torch/torch.h>

#include "check_model.h"
#include "errors.h"
#include "flightdeck/flightdeck.h"
#include "passes/layers.h"
#include "tensors.h"

namespace flightdeck::tests {
namespace {

namespace nn = torch::nn;

using at::indexing::None;

constexpr int64_t N = 3, T = 4, D = 5, H = 3;

class Experts : public SeededTest {
 protected:
  // [E, ...] in one parameter, as Mixtral has them.
  void SetUp() override {
    SeededTest::SetUp();
    inner_ = random_parameter({E_, H, D});
    outer_ = random_parameter({E_, D, H});
    router_ = random_parameter({E_, D});
    embed_ = random_parameter({D, D});
    data_ = random({N, T, D});
  }

  Parameters parameters() const {
    return Parameters(
        {{"inner", inner_}, {"outer", outer_}, {"router", router_}, {"embed", embed_}});
  }

  Tensor hidden() const { return at::matmul(data_, embed_).tanh(); }

  struct Routed {
    Tensor weights, experts;  // [tokens, k]
  };

  Routed routed(const Tensor& tokens, int64_t k) const {
    auto [weights, experts] = at::linear(tokens, router_).softmax(-1).topk(k, -1);
    return {weights / weights.sum(-1, true), experts};
  }

  Tensor expert(int64_t e, const Tensor& x) const {
    return at::linear(at::linear(x, inner_[e]).tanh(), outer_[e]);
  }

  // As in the models of today: each expert takes its tokens and adds to where they came from.
  Tensor mixed(const Tensor& x, int64_t k, bool keeps_empty = false) const {
    const Tensor tokens = x.reshape({-1, D});
    const Routed route = routed(tokens, k);
    Tensor result = at::zeros_like(tokens);
    for (int64_t e = 0; e < E_; ++e) {
      const std::vector<Tensor> found = at::where(route.experts.t().eq(e));
      if (found[1].numel() == 0 && !keeps_empty) continue;
      const Tensor own = expert(e, tokens.index({found[1]}));
      const Tensor weights = route.weights.index({found[1], found[0], None});
      result.index_add_(0, found[1], own * weights);
    }
    return result.view_as(x);
  }

  int64_t E_ = 3;
  Tensor inner_, outer_, router_, embed_, data_;
};

TEST_F(Experts, MatchOracleForTwoOfThree) {
  const Tensor x = hidden();
  check_model(losses_of(x + mixed(x, 2)), parameters());
}

TEST_F(Experts, MatchOracleWithoutResidualPath) {
  check_model(losses_of(mixed(hidden(), 2)), parameters());
}

TEST_F(Experts, MatchOracleForOneOfThree) {
  const Tensor x = hidden();
  Tensor losses = losses_of(x + mixed(x, 1) + at::linear(x, router_).sum(-1, true));
  check_model(losses, parameters());
}

TEST_F(Experts, MatchOracleForLayersOnTopOfEachOther) {
  Tensor x = hidden();
  x = x + mixed(x, 2);
  x = x + mixed(at::layer_norm(x, {D}), 2);
  check_model(losses_of(x), parameters());
}

TEST_F(Experts, MatchOracleForTimeMajorTokens) {
  const Tensor x = hidden().transpose(0, 1).contiguous();
  check_model(losses_of((x + mixed(x, 2)).transpose(0, 1)), parameters());
}

TEST_F(Experts, MatchOracleForExpertsWithoutTokensOrWithOne) {
  {
    const at::NoGradGuard guard;
    router_.zero_();
    // The sign of the first feature chooses; only one token has it negative, expert 2 gets none.
    router_[0][0] = 5.0;
    router_[1][0] = -5.0;
    embed_.zero_();
    embed_[0][0] = 1.0;
    embed_[1][1] = 1.0;
    data_.select(2, 0).abs_();
    data_[1][2][0] = -1.0;
  }
  for (const bool keeps_empty : {false, true}) {
    const Tensor x = hidden();
    const Tensor losses = losses_of(x + mixed(x, 1, keeps_empty));
    const Gradients answers = gradients(losses, parameters(), Need::kIndividual);
    expect_matches_oracle(answers, differentiate(losses, parameters()), Need::kIndividual, {});
    EXPECT_EQ(answers.coverage.parameters[0].level, CoverageLevel::kExactFast);
    EXPECT_TRUE(answers.remarks.empty() || answers.remarks[0].find("router") != std::string::npos);
  }
}

TEST_F(Experts, MatchOracleForModulesOfTheirOwnAndASequenceInFront) {
  // As Mixtral was before: every expert is a module, tokens are taken from [1, tokens, D].
  std::vector<nn::Linear> experts;
  ParameterList list;
  for (int64_t e = 0; e < 4; ++e) {
    experts.push_back(linear(D, D));
    list.add("expert" + std::to_string(e), experts.back());
  }
  const Tensor x = hidden();
  const Tensor tokens = x.reshape({-1, D});
  const Tensor chosen = random_integers({N * T, 2}, 4);
  Tensor result = at::zeros_like(tokens);
  for (int64_t e = 0; e < 4; ++e) {
    const Tensor own = at::where(chosen.eq(e))[0];
    const Tensor taken = tokens.index({None, own}).reshape({-1, D});
    result = result.index_add(0, own, experts[e](taken).relu().to(at::kDouble), 0.5);
  }
  list.add("embed", embed_);
  check_model(losses_of(x + result.view_as(x)), list);
}

TEST_F(Experts, MatchOracleForMasksReadAndWritten) {
  auto layer = linear(D, D);
  const Tensor x = hidden();
  Tensor result = at::zeros_like(x);
  const Tensor mask = random({N, T}).gt(-0.3);
  result.index_put_({mask}, result.index({mask}) + layer(x.index({mask})).tanh());
  check_model(losses_of(x + result), ParameterList().add("layer", layer).add("embed", embed_));
}

TEST_F(Experts, MatchOracleForTokensSortedByExpert) {
  // One product for all: sorted by expert, and the weights of each token picked.
  const Tensor x = hidden();
  const Tensor tokens = x.reshape({-1, D});
  const Routed route = routed(tokens, 2);
  const Tensor experts = route.experts.reshape({-1});
  const Tensor order = experts.argsort();
  const Tensor taken = tokens.index({order.div(2, "floor")});
  const Tensor up = at::bmm(inner_.index({experts.index({order})}), taken.unsqueeze(-1)).tanh();
  const Tensor down = at::bmm(outer_.index({experts.index({order})}), up).squeeze(-1);
  const Tensor back = down.index({order.argsort()}) * route.weights.reshape({-1, 1});
  check_model(losses_of(x + back.view({-1, 2, D}).sum(1).view_as(x)), parameters());
}

TEST_F(Experts, MatchOracleForPackedSequences) {
  auto layer = linear(D, D);
  const Tensor x = hidden();
  const Tensor kept = random_integers({N * T}, 2).nonzero().squeeze(1);
  const Tensor packed = layer(x.reshape({-1, D}).index_select(0, kept)).tanh();
  const Tensor padded = at::zeros({N * T, D}, x.options()).index_copy(0, kept, packed);
  check_model(losses_of(padded.view_as(x)),
              ParameterList().add("layer", layer).add("embed", embed_));
}

TEST_F(Experts, MatchOracleForLossesOfTokensAddedToTheirSamples) {
  auto layer = linear(D, 4);
  const Tensor owner = at::tensor({2, 0, 0, 1, 2, 2, 0}, at::kLong).to(test_device());
  const Tensor logits = layer(random({7, D}));
  const Tensor each =
      at::cross_entropy_loss(logits, random_integers({7}, 4), {}, at::Reduction::None, -100, 0.0);
  check_model(at::zeros({3}, each.options()).index_add(0, owner, each), layer->named_parameters());
}

TEST_F(Experts, MatchOracleForShuffledSamples) {
  auto layer = linear(D, D);
  const Tensor order = at::tensor({2, 0, 1}, at::kLong).to(test_device());
  const Tensor x = layer(random({3, D})).tanh();
  check_model(losses_of(x.index({order})), layer->named_parameters());
  check_model(losses_of(layer(x.index_select(0, order))), layer->named_parameters());
}

TEST_F(Experts, DoNotCoupleSamples) {
  const Tensor x = hidden();
  const Gradients answers = gradients(losses_of(x + mixed(x, 2)), parameters(), Need::kNorms);
  EXPECT_TRUE(answers.coverage.couplings.empty());
  EXPECT_TRUE(answers.remarks.empty());
}

TEST_F(Experts, ThatReadAnotherSampleAreSaidToPerhapsCoupleThem) {
  auto layer = linear(D, D);
  const Tensor x = layer(random({3, D})).tanh();
  const Tensor order = at::tensor({2, 0, 1}, at::kLong).to(test_device());
  for (const Tensor& losses :
       {losses_of(x + 0.5 * x.index({order})),
        losses_of(x.index({at::tensor({0, 0, 1}, at::kLong).to(test_device())}))}) {
    const Parameters parameters(layer->named_parameters());
    const Gradients answers = gradients(losses, parameters, Need::kIndividual);
    expect_matches_oracle(answers, differentiate(losses, parameters), Need::kIndividual, {});
    ASSERT_EQ(answers.remarks.size(), 1);
    expect_mentions(answers.remarks[0], {"IndexBackward0", "couple", "not known"});
  }
}

TEST_F(Experts, HaveNoKroneckerFactorsButAnExactDiagonal) {
  auto layer = linear(D, D);
  const Tensor x = hidden();
  const Tensor tokens = x.reshape({-1, D});
  const Tensor own = at::tensor({1, 2, 3, 9, 11}, at::kLong).to(test_device());
  const Tensor result =
      tokens.index_add(0, own, layer(tokens.index({own})).tanh()).view_as(x).flatten(1);
  const Tensor losses = at::cross_entropy_loss(
      result, random_integers({N}, T * D), {}, at::Reduction::None, -100, 0.0);
  const Parameters parameters(layer->named_parameters());
  const Curvature answers =
      curvature(losses, parameters, CurvatureNeed::kKflr | CurvatureNeed::kDiagGgn);
  EXPECT_FALSE(answers.parameters[0].kflr.defined());
  EXPECT_TRUE(answers.parameters[0].diag_ggn.defined());
}

}  // namespace
}  // namespace flightdeck::tests
