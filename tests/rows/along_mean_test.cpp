// SPDX-License-Identifier: MIT
// Directions that are multiples of a mean of rows: found where they are, not found where they are
// not, and products with them as with the direction written out.
#include "rows/along_mean.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "rows/outer.h"
#include "rows/rows.h"

namespace flightdeck {
namespace {

// A linear layer [J, I] with the rows of M samples, before and after a step.
struct Step {
  explicit Step(at::ScalarType type, int64_t M = 4, int64_t I = 31, int64_t J = 23) {
    torch::manual_seed(5);
    a = torch::randn({M, I}, torch::kDouble).to(type);
    b = torch::randn({M, J}, torch::kDouble).to(type);
    before = torch::randn({J, I}, torch::kDouble).mul(0.1).to(type);
    rows = Rows(std::make_shared<OuterForm>(a.unsqueeze(1), b.unsqueeze(1)));
    rows.terms()[0].placement.undo_permute({1, 0});
    mean = b.t().mm(a).div(M);
  }

  AlongMean find(const Tensor& update) const {
    const Tensor after = before + update;
    return find_along_mean(rows, after - before, after);
  }

  Tensor a, b, before, mean;
  Rows rows;
};

class AlongMeanTest : public ::testing::TestWithParam<at::ScalarType> {};

TEST_P(AlongMeanTest, AMultipleOfTheMeanIsFound) {
  const Step step(GetParam());
  for (double rate : {1.0, 1e-2, 1e-4}) {
    const AlongMean found = step.find(step.mean * -rate);
    ASSERT_TRUE(found.is_known()) << rate;
    EXPECT_NEAR(found.multiple / -rate, 1, 1e-3) << rate;
  }
}

TEST_P(AlongMeanTest, NoUpdateIsNoneOfTheMean) {
  const Step step(GetParam());
  const AlongMean found = step.find(torch::zeros_like(step.mean));
  ASSERT_TRUE(found.is_known());
  EXPECT_EQ(found.multiple, 0);
}

TEST_P(AlongMeanTest, OtherUpdatesAreNone) {
  const Step step(GetParam());
  const Tensor gradient = step.mean;
  const Tensor one_entry = gradient.clone();
  one_entry[3][4] += 0.01;
  const std::vector<std::pair<const char*, Tensor>> updates = {
      {"momentum", gradient + 0.5 * torch::randn_like(gradient)},
      {"sign", gradient.sign()},
      {"weight decay", gradient + 1e-2 * step.before},
      {"one entry", one_entry},
      {"one line", gradient + torch::eye(23, 31, gradient.options()).mul(1e-3)},
      {"rank one", gradient + step.b[1].unsqueeze(1).mm(step.a[2].unsqueeze(0)).mul(0.1)},
      {"not a number", gradient * std::numeric_limits<double>::quiet_NaN()}};
  for (const auto& [name, update] : updates) {
    EXPECT_FALSE(step.find(update * -0.1).is_known()) << name;
  }
}

TEST_P(AlongMeanTest, ProductsAreThoseWithTheDirection) {
  const Step step(GetParam()), other(GetParam(), 7);
  const AlongMean found = step.find(step.mean * -0.1);
  ASSERT_TRUE(found.is_known());
  const Tensor dots = dots_along_mean(other.a, other.b, found);
  const Tensor direction = step.mean.to(torch::kDouble) * found.multiple;
  const Tensor expected =
      other.a.to(torch::kDouble).mm(direction.t()).mul(other.b.to(torch::kDouble)).sum(1);
  const double tolerance = GetParam() == torch::kDouble ? 1e-12 : 1e-4;
  EXPECT_TRUE(torch::allclose(dots.to(torch::kDouble), expected, tolerance, tolerance));
  EXPECT_EQ(dots.scalar_type(), GetParam());
}

TEST_P(AlongMeanTest, AFactorThatHasChangedIsAnError) {
  const Step step(GetParam());
  const AlongMean found = step.find(step.mean * -0.1);
  step.a.add_(1);
  EXPECT_THROW(dots_along_mean(step.a, step.b, found), c10::Error);
}

TEST_P(AlongMeanTest, PaysForLargeLayersAlone) {
  const Step large(GetParam()), small(GetParam(), 20);
  EXPECT_TRUE(pays_along_mean(large.rows, large.before));
  EXPECT_FALSE(pays_along_mean(small.rows, small.before));
}

INSTANTIATE_TEST_SUITE_P(Types,
                         AlongMeanTest,
                         ::testing::Values(at::kFloat, at::kDouble),
                         [](const auto& info) { return c10::toString(info.param); });

}  // namespace
}  // namespace flightdeck
