// SPDX-License-Identifier: MIT
// Every operation of every form against the same rows written out.
#include "rows/rows.h"

#include <functional>
#include <memory>

#include "rows/convolution.h"
#include "rows/dense.h"
#include "rows/gather.h"
#include "rows/outer.h"
#include "tensors.h"

namespace flightdeck::tests {
namespace {

constexpr int64_t kScratch = int64_t{1} << 20;
// Sums of a few hundred products in double, in another order.
constexpr double kTolerance = 1e-11;

struct Case {
  const char* name;
  std::function<Rows()> make;
};

Tensor indices_of(at::IntArrayRef shape, int64_t limit) { return random_integers(shape, limit); }

Rows outer(int64_t T, int64_t I, int64_t J) {
  return Rows(std::make_shared<OuterForm>(random({5, T, I}), random({5, T, J})));
}

Rows convolution(int64_t groups, int64_t J) {
  const ConvolutionGeometry geometry{{2, 1}, {1, 2}, {1, 2}, groups};
  const Tensor input = random({5, 2 * groups, 6, 7});
  const Tensor weight = random({J, 2, 3, 2});
  const Tensor output = at::conv2d(input, weight, {}, {2, 1}, {1, 2}, {1, 2}, groups);
  return Rows(std::make_shared<ConvolutionForm>(
      input, random(output.sizes()), weight.sizes().vec(), geometry));
}

// So few positions that the Gram route to the norms is the cheaper one.
Rows convolution_at_few_positions() {
  const ConvolutionGeometry geometry{{1, 1}, {0, 0}, {1, 1}, 1};
  return Rows(std::make_shared<ConvolutionForm>(
      random({5, 9, 3, 4}), random({5, 30, 1, 2}), Shape{30, 9, 3, 3}, geometry));
}

Rows gather() {
  return Rows(std::make_shared<GatherForm>(indices_of({5, 6}, 4), random({5, 6, 3}), 7, 2));
}

// Two uses of one parameter [6, 4] in different forms, so that cross terms matter.
Rows tied() {
  Rows rows = outer(3, 6, 4);
  rows.add(Rows(std::make_shared<GatherForm>(indices_of({5, 6}, 6), random({5, 6, 4}), 6, -1)));
  rows.merge();
  return rows;
}

// Two slices of one parameter [6, 4] that do not overlap.
Rows packed() {
  Rows first = outer(2, 3, 4), second = outer(1, 3, 4);
  first.terms()[0].placement.undo_slice({6, 4}, 0, 0, 1);
  second.terms()[0].placement.undo_slice({6, 4}, 0, 3, 1);
  first.add(std::move(second));
  first.merge();
  return first;
}

// Two uses of one kind: joined into one form.
Rows repeated() {
  Rows rows = outer(1, 6, 4);
  rows.add(outer(2, 6, 4));
  rows.merge();
  EXPECT_EQ(rows.terms().size(), 1u);
  return rows;
}

Rows transposed() {
  Rows rows = outer(2, 6, 4);
  rows.terms()[0].placement.undo_permute({1, 0});
  rows.terms()[0].placement.undo_reshape({2, 2, 6});
  return rows;
}

const Case kCases[] = {
    {"OuterAtOnePosition", [] { return outer(1, 6, 4); }},
    {"OuterAtFewPositions", [] { return outer(2, 30, 20); }},
    {"OuterAtManyPositions", [] { return outer(40, 6, 9); }},
    {"OuterOfOneFeature", [] { return outer(7, 5, 1); }},
    {"Convolution", [] { return convolution(1, 3); }},
    {"ConvolutionOfManyChannels", [] { return convolution(1, 17); }},
    {"ConvolutionOfTwoGroups", [] { return convolution(2, 18); }},
    {"ConvolutionOfManyGroups", [] { return convolution(6, 6); }},
    {"ConvolutionAtFewPositions", [] { return convolution_at_few_positions(); }},
    {"Gather", [] { return gather(); }},
    {"Dense",
     [] {
       return Rows(std::make_shared<DenseForm>(random({5, 3, 4}), "dense"));
     }},
    {"TiedUses", [] { return tied(); }},
    {"PackedSlices", [] { return packed(); }},
    {"RepeatedUse", [] { return repeated(); }},
    {"TransposedParameter", [] { return transposed(); }},
};

class EveryForm : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    torch::manual_seed(7);
    rows_ = GetParam().make();
    dense_ = rows_.dense(0, rows_.N());
    flat_ = dense_.reshape({rows_.N(), -1});
  }

  static void expect_close(const Tensor& actual, const Tensor& expected) {
    ASSERT_TRUE(actual.defined());
    ASSERT_EQ(actual.sizes(), expected.sizes());
    const double scale = 1 + expected.abs().max().item<double>();
    EXPECT_LE((actual - expected).abs().max().item<double>(), kTolerance * scale);
  }

  void expect_answers(const Questions& questions) {
    const Answers answers = rows_.answer(questions);
    if (questions.sum) expect_close(answers.sum, dense_.sum(0) * questions.share);
    if (questions.second) expect_close(answers.second, dense_.square().sum(0) * questions.share);
    if (questions.norms) expect_close(answers.norms, flat_.square().sum(1).sqrt());
    if (questions.gram) expect_close(answers.gram, flat_.mm(flat_.t()));
    if (questions.dense) expect_close(answers.dense, dense_);
    if (questions.directions.defined()) {
      expect_close(answers.dots, flat_.mm(questions.directions.reshape({2, -1}).t()));
    }
    EXPECT_FALSE(answers.algorithm.empty());
  }

  Tensor directions() const {
    Shape sizes = rows_.shape();
    sizes.insert(sizes.begin(), 2);
    return random(sizes);
  }

  Rows rows_;
  Tensor dense_, flat_;
};

TEST_P(EveryForm, AnswersEveryCombinationOfQuestions) {
  for (int bits = 1; bits < 64; ++bits) {
    Questions questions;
    questions.sum = bits & 1;
    questions.second = bits & 2;
    questions.norms = bits & 4;
    questions.gram = bits & 8;
    questions.dense = bits & 16;
    if (bits & 32) questions.directions = directions();
    if (bits % 3 == 0) questions.share = 0.2;
    SCOPED_TRACE(bits);
    expect_answers(questions);
  }
}

TEST_P(EveryForm, AnswersTheSameWithScratchForOneRowOnly) {
  Questions questions;
  questions.sum = questions.second = questions.norms = questions.gram = true;
  questions.scratch_bytes = 1;
  expect_answers(questions);
}

TEST_P(EveryForm, CombinesRowsLinearly) {
  const Tensor coefficients = random({3, rows_.N()});
  Shape sizes = rows_.shape();
  sizes.insert(sizes.begin(), 3);
  expect_close(rows_.combine(coefficients), coefficients.mm(flat_).view(sizes));
}

TEST_P(EveryForm, WritesOutRowsInPieces) { expect_close(rows_.dense(1, 3), dense_.slice(0, 1, 3)); }

TEST_P(EveryForm, SelectsRows) {
  const Tensor index = at::tensor({3, 0, 3}, at::kLong).to(test_device());
  expect_close(rows_.select(index).dense(0, 3), dense_.index_select(0, index));
}

TEST_P(EveryForm, CountsEveryEntryOnceInItsBin) {
  for (const Bins& bins : {Bins{-2, 2, 100}, Bins{-0.5, 3, 7}}) {
    // A piece of rows may be summed in another order than dense_: count what it writes out itself.
    const Histogram histogram = rows_.histogram(bins, kScratch);
    const Tensor raw = count_into_bins(dense_, bins).cpu();
    EXPECT_TRUE(histogram.counts.equal(raw.slice(0, 1, bins.count + 1)));
    EXPECT_EQ(histogram.underflow, raw[0].item<int64_t>());
    EXPECT_EQ(histogram.overflow, raw[bins.count + 1].item<int64_t>());
    EXPECT_EQ(histogram.counts.sum().item<int64_t>() + histogram.underflow + histogram.overflow,
              dense_.numel());
  }
}

TEST_P(EveryForm, CountsEntriesJointlyWithParameterValues) {
  const Bins bins{-1, 1, 8}, value_bins{-1.5, 1.5, 5};
  const Tensor values = random(rows_.shape());
  const Tensor counts = rows_.histogram2d(bins, values, value_bins, kScratch).cpu();
  Tensor expected = at::zeros({8, 5}, at::kLong);
  const Tensor entries = flat_.cpu(), flat_values = values.reshape({-1}).cpu();
  const auto bin = [](double x, const Bins& b) {
    const double clamped = std::min(std::max(x, b.low), b.high);
    return std::min<int64_t>(static_cast<int64_t>((clamped - b.low) * (b.count / (b.high - b.low))),
                             b.count - 1);
  };
  for (int64_t n = 0; n < entries.size(0); ++n) {
    for (int64_t k = 0; k < entries.size(1); ++k) {
      expected[bin(entries[n][k].item<double>(), bins)]
              [bin(flat_values[k].item<double>(), value_bins)] += 1;
    }
  }
  EXPECT_TRUE(counts.equal(expected));
}

INSTANTIATE_TEST_SUITE_P(Rows, EveryForm, testing::ValuesIn(kCases), [](const auto& info) {
  return std::string(info.param.name);
});

TEST(OuterHistogram, EqualsTheDirectCountOnFloatsWithZerosAndExtremes) {
  torch::manual_seed(3);
  Tensor a = at::randn({4, 33}), b = at::randn({4, 29}) * 0.1;
  a.masked_fill_(at::rand({4, 33}) < 0.4, 0);
  b[1][2] = 1e30;
  a[2][5] = std::numeric_limits<float>::infinity();
  b[3][1] = std::numeric_limits<float>::quiet_NaN();
  const Bins bins{-0.3, 0.3, 50};
  const Tensor products = a.unsqueeze(2) * b.unsqueeze(1);
  EXPECT_TRUE(count_outer_into_bins(a, b, bins).equal(count_into_bins(products, bins)));
}

TEST(HistogramBins, PutTheUpperEndIntoTheLastBinAndNameNaN) {
  const Bins bins{-2, 2, 4};
  const Tensor values =
      at::tensor({-2.0, -1.0, 0.0, 2.0, 2.1, -2.1, std::numeric_limits<double>::quiet_NaN()});
  const Histogram histogram = finish_histogram(count_into_bins(values, bins), bins);
  EXPECT_TRUE(histogram.counts.equal(at::tensor({1, 1, 1, 1}, at::kLong)));
  EXPECT_EQ(histogram.underflow, 1);
  EXPECT_EQ(histogram.overflow, 1);
  EXPECT_EQ(histogram.not_a_number, 1);
}

TEST(Placements, MoveEntriesThereAndBack) {
  torch::manual_seed(5);
  Placement placement({2, 3});
  placement.undo_permute({1, 0});
  placement.undo_slice({3, 5}, 1, 1, 2);
  placement.undo_reshape({15});
  const Tensor parameter = random({4, 15}), rows = random({4, 2, 3});
  // <P r, v> = <r, P' v>
  const Tensor there = placement.to_parameter(rows, 1),
               back = placement.from_parameter(parameter, 1);
  EXPECT_NEAR((there * parameter).sum().item<double>(), (rows * back).sum().item<double>(), 1e-12);
  EXPECT_TRUE(placement.from_parameter(there, 1).equal(rows));
}

}  // namespace
}  // namespace flightdeck::tests
