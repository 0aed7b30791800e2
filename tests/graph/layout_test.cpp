// SPDX-License-Identifier: MIT
#include "graph/layout.h"

#include "tensors.h"

namespace flightdeck::tests {
namespace {

TEST(ReshapeLayout, FollowsFlatteningOfPositions) {
  EXPECT_EQ(reshape_layout(Layout::batch(4, 0), {4, 6, 3}, {24, 3}), Layout::batch(4, 0, 1, 6));
  EXPECT_EQ(reshape_layout(Layout::batch(4, 0, 1, 6), {24, 3}, {4, 6, 3}), Layout::batch(4, 0));
}

TEST(ReshapeLayout, FollowsTimeMajorFlattening) {
  EXPECT_EQ(reshape_layout(Layout::batch(4, 1), {6, 4, 3}, {24, 3}), Layout::batch(4, 0, 6, 1));
  EXPECT_EQ(reshape_layout(Layout::batch(4, 0, 6, 1), {24, 3}, {6, 4, 3}), Layout::batch(4, 1));
}

TEST(ReshapeLayout, FollowsHeadsSplitFromFeatures) {
  EXPECT_EQ(reshape_layout(Layout::batch(4, 1), {6, 4, 8}, {6, 8, 4}), Layout::batch(4, 1, 1, 2));
}

TEST(ReshapeLayout, IsUnknownWhereSamplesStraddleDimensions) {
  EXPECT_EQ(reshape_layout(Layout::batch(4, 0), {4, 3}, {2, 6}).kind, Layout::Kind::kUnknown);
}

TEST(ReshapeLayout, KeepsASingleSampleInADimensionOfItsOwn) {
  EXPECT_EQ(reshape_layout(Layout::batch(1, 0), {1, 1, 5}, {1, 5}), Layout::batch(1, 0));
}

TEST(BroadcastLayout, IsFreeWhereTheOperandHasNoSamples) {
  const Layout out = Layout::batch(4, 0);
  EXPECT_TRUE(broadcast_layout(out, {4, 6, 3}, {3}).is_free());
  EXPECT_TRUE(broadcast_layout(out, {4, 6, 3}, {1, 6, 3}).is_free());
  EXPECT_EQ(broadcast_layout(Layout::batch(4, 1), {6, 4, 3}, {4, 1}), Layout::batch(4, 0));
}

TEST(LeadingLayout, NamesBothNumbersWhereTheBatchSizeDoesNotDivide) {
  EXPECT_EQ(leading_layout(4, {12, 5}, "op"), Layout::batch(4, 0, 1, 3));
  try {
    leading_layout(5, {12, 5}, "MeanBackward0");
    FAIL() << "accepted";
  } catch (const c10::Error& error) {
    const std::string what = error.what_without_backtrace();
    for (const char* part : {"MeanBackward0", "5", "[12, 5]", "batch size"}) {
      EXPECT_NE(what.find(part), std::string::npos) << part << " is not in: " << what;
    }
  }
}

TEST(SamplesFirst, SplitsOuterAndInnerRepeats) {
  torch::manual_seed(1);
  const Layout layout = Layout::batch(3, 1, 2, 4);
  const Tensor tensor = random({5, 24, 2});
  const Tensor first = samples_first(tensor, layout);
  ASSERT_EQ(first.sizes(), (Shape{3, 5, 2, 4, 2}));
  // index = (o * N + n) * inner + i
  EXPECT_TRUE(first[2].select(1, 1).select(1, 3).equal(tensor.select(1, (1 * 3 + 2) * 4 + 3)));
}

TEST(SampleScaling, TouchesEachSampleByItsFactorAndKeepsOne) {
  torch::manual_seed(1);
  const Layout layout = Layout::batch(3, 0, 1, 2);
  const Tensor tensor = random({6, 2});
  const Tensor scaled =
      scale_samples(tensor, layout, at::tensor({1.0, 0.0, 2.0}).to(test_device()));
  EXPECT_TRUE(scaled.slice(0, 4, 6).equal(tensor.slice(0, 4, 6) * 2));
  EXPECT_EQ(scaled.slice(0, 2, 4).abs().max().item<double>(), 0);
  const Tensor kept = only_sample(tensor, layout, 1);
  EXPECT_TRUE(kept.slice(0, 2, 4).equal(tensor.slice(0, 2, 4)));
  EXPECT_EQ(kept.slice(0, 4, 6).abs().max().item<double>(), 0);
}

TEST(ScatteredSamples, StandSideBySideWithZerosBehindTheShorter) {
  torch::manual_seed(1);
  const Layout layout = Layout::scattered(3, 1, {2, 0, -1, 2, 2});
  const Tensor tensor = random({4, 5, 2});
  const Tensor first = samples_first(tensor, layout);
  ASSERT_EQ(first.sizes(), (Shape{3, 4, 1, 3, 2}));
  EXPECT_TRUE(first[0].select(1, 0).select(1, 0).equal(tensor.select(1, 1)));
  EXPECT_TRUE(first[2].select(1, 0).select(1, 1).equal(tensor.select(1, 3)));
  EXPECT_EQ(first[0].select(1, 0).slice(1, 1).abs().max().item<double>(), 0);
  EXPECT_EQ(first[1].abs().max().item<double>(), 0);
}

TEST(ScatteredSamples, StandSideBySideWhereThereAreNone) {
  const Tensor first = samples_first(random({0, 2}), Layout::scattered(3, 0, {}));
  ASSERT_EQ(first.sizes(), (Shape{3, 1, 1, 2}));
  EXPECT_EQ(first.abs().max().item<double>(), 0);
}

TEST(ScatteredSamples, AreScaledAndKeptByTheirOwners) {
  torch::manual_seed(1);
  const Layout layout = Layout::scattered(3, 0, {2, 0, 2});
  const Tensor tensor = random({3, 2});
  const Tensor scaled =
      scale_samples(tensor, layout, at::tensor({1.0, 0.0, 2.0}).to(test_device()));
  EXPECT_TRUE(scaled[1].equal(tensor[1]));
  EXPECT_TRUE(scaled[2].equal(tensor[2] * 2));
  const Tensor kept = only_sample(tensor, layout, 2);
  EXPECT_TRUE(kept[0].equal(tensor[0]));
  EXPECT_EQ(kept[1].abs().max().item<double>(), 0);
}

TEST(ScatteredSamples, BelongToWhereTheyAreWritten) {
  const Layout out = Layout::batch(2, 1, 1, 3);
  EXPECT_EQ(written_layout(out, at::tensor({5, 0, 2, -1})), Layout::scattered(2, 1, {1, 0, 0, 1}));
}

TEST(ScatteredSamples, OwnWhatTheyAloneRead) {
  const Layout out = Layout::scattered(2, 0, {1, 0, 1});
  EXPECT_EQ(read_layout(out, at::tensor({3, 0, 3}), 4), Layout::scattered(2, 0, {0, -1, -1, 1}));
  EXPECT_EQ(read_layout(out, at::tensor({3, 3, 0}), 4).kind, Layout::Kind::kUnknown);
}

TEST(ScatteredSamples, AgreeWhereNoEntryHasTwoOwners) {
  const Layout whole = Layout::batch(2, 0, 1, 2);
  const Layout first = Layout::scattered(2, 0, {0, -1, 1, -1});
  const Layout second = Layout::scattered(2, 0, {-1, 0, 1, 1});
  EXPECT_EQ(agreed_layout(first, second), whole);
  EXPECT_EQ(agreed_layout(whole, first), whole);
  EXPECT_EQ(agreed_layout(first, whole), whole);
  EXPECT_EQ(agreed_layout(first, Layout::scattered(2, 0, {-1, -1, -1, 0})),
            Layout::scattered(2, 0, {0, -1, 1, 0}));
  EXPECT_EQ(agreed_layout(first, Layout::batch(2, 0, 2, 1)).kind, Layout::Kind::kUnknown);
  EXPECT_EQ(agreed_layout(first, first.at_dim(1)).kind, Layout::Kind::kUnknown);
}

TEST(ScatteredSamples, FollowReshapesOfTheirOwnDimension) {
  const Layout layout = Layout::scattered(2, 0, {1, 1, 0, 0, 1, 1});
  EXPECT_EQ(reshape_layout(layout, {6, 4}, {6, 2, 2}), layout);
  EXPECT_EQ(reshape_layout(layout, {6, 4}, {1, 6, 4}), layout.at_dim(1));
  EXPECT_EQ(reshape_layout(layout, {6, 4}, {3, 2, 4}), Layout::scattered(2, 0, {1, 0, 1}));
  EXPECT_EQ(reshape_layout(Layout::scattered(2, 0, {1, 0, 1}), {3, 2, 4}, {6, 4}), layout);
  EXPECT_EQ(reshape_layout(layout, {6, 4}, {2, 3, 4}).kind, Layout::Kind::kUnknown);
  const Layout partly = Layout::scattered(2, 0, {0, -1, -1, 1});
  EXPECT_EQ(reshape_layout(partly, {4, 3}, {2, 2, 3}), Layout::scattered(2, 0, {0, 1}));
}

}  // namespace
}  // namespace flightdeck::tests
