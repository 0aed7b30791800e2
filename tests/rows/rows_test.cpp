// SPDX-License-Identifier: MIT
// Every operation of every form against the same rows written out.
#include "rows/rows.h"

#include <functional>
#include <memory>

#include "rows/convolution.h"
#include "rows/dense.h"
#include "rows/gather.h"
#include "rows/histogram.h"
#include "rows/outer.h"
#include "tensors.h"

namespace flightdeck::tests {
namespace {

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
    const auto asks = [&](Need need) { return questions.what.has(need); };
    if (asks(Need::kMean)) expect_close(answers.mean, dense_.sum(0) * questions.share);
    if (asks(Need::kSecondMoment)) {
      expect_close(answers.second_moment, dense_.square().sum(0) * questions.share);
    }
    if (asks(Need::kNorms)) expect_close(answers.norms, flat_.square().sum(1).sqrt());
    if (asks(Need::kGram)) expect_close(answers.gram, flat_.mm(flat_.t()));
    if (asks(Need::kIndividual)) expect_close(answers.individual, dense_);
    if (asks(Need::kDots)) {
      expect_close(answers.dots, flat_.mm(questions.directions.reshape({2, -1}).t()));
    }
    if (asks(Need::kMeanDots)) {
      expect_close(answers.mean_dots, flat_.mv(flat_.sum(0)) * questions.share);
    }
    const Tensor centred = flat_ - flat_.mean(0);
    if (asks(Need::kDeviations)) expect_close(answers.deviations, centred.square().sum(1));
    if (asks(Need::kVariance)) {
      expect_close(answers.variance, centred.square().sum(0).view(rows_.shape()) * questions.share);
    }
    expect_counts(questions, answers);
    for (const Answer* answer : answer_catalogue()) {
      EXPECT_EQ(answer->get(answers).empty(), !answer->is_asked(questions)) << answer->kind().name;
    }
    EXPECT_FALSE(answers.algorithm.empty());
  }

  void expect_counts(const Questions& questions, const Answers& answers) {
    ASSERT_EQ(answers.histograms.size(), questions.histograms.size());
    for (size_t k = 0; k < answers.histograms.size(); ++k) {
      const Tensor expected = count_into_bins(dense_, questions.histograms[k]);
      EXPECT_TRUE(answers.histograms[k].equal(expected)) << answers.histograms[k] - expected;
    }
    ASSERT_EQ(answers.joint_histograms.size(), questions.joint_histograms.size());
    for (size_t k = 0; k < answers.joint_histograms.size(); ++k) {
      EXPECT_TRUE(answers.joint_histograms[k].cpu().equal(joint_counts(questions, k)));
    }
  }

  // One entry at a time.
  Tensor joint_counts(const Questions& questions, size_t k) const {
    const Bins& bins = questions.joint_histograms[k].gradients;
    const int64_t columns = questions.joint_histograms[k].parameters.count;
    Tensor counts = at::zeros({bins.count, columns}, at::kLong);
    const Tensor clamped = flat_.clamp(bins.low, bins.high);
    const Tensor gradient_bins = bin_index(clamped, bins).cpu();
    const Tensor value_bins = questions.value_bins[k].reshape({-1}).cpu();
    const auto gradient_bin = gradient_bins.accessor<int64_t, 2>();
    const auto value_bin = value_bins.accessor<int64_t, 1>();
    auto count = counts.accessor<int64_t, 2>();
    for (int64_t n = 0; n < flat_.size(0); ++n) {
      for (int64_t i = 0; i < flat_.size(1); ++i) ++count[gradient_bin[n][i]][value_bin[i]];
    }
    return counts;
  }

  // Two ranges that cut off some entries, one of them without zero.
  void ask_counts(Questions& questions) const {
    questions.histograms = {Bins{-2, 2, 100}, Bins{0.5, 3, 7}};
    questions.joint_histograms = {JointBins{{-1, 1, 8}, {-1.5, 1.5, 5}},
                                  JointBins{{0.25, 2, 3}, {-0.5, 0.25, 4}}};
    const Tensor values = random(rows_.shape());
    for (const JointBins& bins : questions.joint_histograms) {
      questions.value_bins.push_back(value_bin_index(values, bins.parameters));
    }
  }

  Tensor directions() const {
    Shape sizes = rows_.shape();
    sizes.insert(sizes.begin(), 2);
    return random(sizes);
  }

  Rows rows_;
  Tensor dense_, flat_;
};

// In the order of their bits, of which counts have one.
const std::vector<Needs> kNeeds = {Need::kMean,
                                   Need::kSecondMoment,
                                   Need::kNorms,
                                   Need::kGram,
                                   Need::kIndividual,
                                   Need::kDots,
                                   Need::kMeanDots,
                                   Needs(),
                                   Need::kDeviations,
                                   Need::kVariance};
constexpr int kCountsBit = 1 << 7;

TEST(EveryAnswer, IsAskedOfEveryForm) {
  for (const Answer* answer : answer_catalogue()) {
    const auto* one = dynamic_cast<const TensorAnswer*>(answer);
    const bool is_asked =
        !one || std::any_of(kNeeds.begin(), kNeeds.end(), [&](const Needs& needs) {
          return needs.has(one->own_need());
        });
    EXPECT_TRUE(is_asked) << answer->kind().name << " is not among kNeeds";
  }
}

TEST_P(EveryForm, AnswersEveryCombinationOfQuestions) {
  // All combinations of the first seven and counts, and every seventh with the last two.
  for (int bits = 1; bits < 1024; bits += bits < 256 ? 1 : 7) {
    Questions questions;
    for (size_t k = 0; k < kNeeds.size(); ++k) {
      if (bits & (1 << k)) questions.what = questions.what | kNeeds[k];
    }
    if (questions.what.has(Need::kDots)) questions.directions = directions();
    if (bits & kCountsBit) ask_counts(questions);
    if (bits % 3 == 0) questions.share = 0.2;
    SCOPED_TRACE(bits);
    expect_answers(questions);
  }
}

TEST_P(EveryForm, AnswersTheSameWithScratchForOneRowOnly) {
  Questions questions;
  const Needs sums = Need::kMean | Need::kSecondMoment | Need::kNorms;
  questions.what = sums | Need::kGram;
  questions.scratch_bytes = 1;
  expect_answers(questions);
  questions.what = sums | Need::kMeanDots | Need::kDeviations | Need::kVariance;
  ask_counts(questions);
  expect_answers(questions);
}

// The largest magnitude in every row: an answer that no form knows and that is not in the
// catalogue.
class LargestEntries final : public TensorAnswer {
 public:
  LargestEntries() : TensorAnswer(Need::kNorms, &ParameterGradients::norms) {}

  AnswerKind kind() const override {
    return {"largest_entries",
            "nothing",
            "largest entries",
            Extent::kSamples,
            Power::kMagnitude,
            OverRanks::kSideBySide};
  }
  Look look() const override {
    Look look;
    look.rows = true;
    return look;
  }
  std::unique_ptr<Accumulator> start(const Questions&, const RowsSize& size) const override {
    return std::make_unique<LargestOfPieces>(size);
  }
  void add(Values& total, const Values& part) const override {
    total[0] = at::maximum(total[0], part[0]);
  }

 private:
  class LargestOfPieces final : public Accumulator {
   public:
    explicit LargestOfPieces(const RowsSize& size) : largest_(at::zeros({size.N}, size.options)) {}

    void add(const Piece& piece) override {
      const Tensor here = largest_.slice(0, piece.sample, piece.end_sample());
      here.copy_(at::maximum(here, std::get<0>(piece.rows.abs().max(1))));
    }
    Values finish(Sums&) override { return {largest_}; }

   private:
    Tensor largest_;
  };
};

TEST_P(EveryForm, AnswersWhatIsOnlyKnownByItsAccumulator) {
  const LargestEntries largest;
  Questions questions;
  for (const int64_t scratch_bytes : {int64_t{1}, questions.scratch_bytes}) {
    questions.scratch_bytes = scratch_bytes;
    expect_close(rows_.answer({&largest}, questions).norms, std::get<0>(flat_.abs().max(1)));
  }
}

TEST_P(EveryForm, IsRebuiltFromItsFactors) {
  Rows rebuilt = rows_;
  for (Rows::Term& term : rebuilt.terms()) {
    std::vector<Tensor> factors = term.form->factors();
    for (Tensor& factor : factors) factor = factor.clone();
    term.form = term.form->with_factors(std::move(factors));
  }
  expect_close(rebuilt.dense(0, rebuilt.N()), dense_);
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

INSTANTIATE_TEST_SUITE_P(Rows, EveryForm, testing::ValuesIn(kCases), [](const auto& info) {
  return std::string(info.param.name);
});

// Rows a_n b_n' that nearly agree in float32, against the same numbers in double.
void expect_scatter_of_outer(const Tensor& a, const Tensor& b) {
  Questions questions;
  questions.what = Need::kDeviations | Need::kVariance | Need::kMeanDots | Need::kMean;
  const Answers answers = OuterForm(a.unsqueeze(1), b.unsqueeze(1)).answer(questions);
  const Tensor rows = a.to(at::kDouble).unsqueeze(2) * b.to(at::kDouble).unsqueeze(1);
  const Tensor squares = (rows - rows.mean(0)).square();
  EXPECT_LT(
      ((answers.deviations - squares.sum({1, 2})).abs() / squares.sum({1, 2})).max().item<double>(),
      1e-2);
  const Tensor variance = squares.sum(0);
  EXPECT_LT(((answers.variance.to(at::kDouble) - variance).abs() / variance).max().item<double>(),
            1e-2);
}

TEST(ScatterOfOuterProducts, KeepsItsDigitsWhereFactorsNearlyAgree) {
  torch::manual_seed(1);
  for (const double spread : {1e-1, 1e-3, 1e-5}) {
    const Tensor a = at::ones({8, 50}) + spread * at::randn({8, 50});
    const Tensor b = 2 * at::ones({8, 40}) + spread * at::randn({8, 40});
    expect_scatter_of_outer(a, b);
  }
}

TEST(ScatterOfOuterProducts, KeepsItsDigitsWhereFactorsDifferAndTheirProductsDoNot) {
  torch::manual_seed(1);
  const Tensor scale = at::exp2(at::arange(-4, 4).to(at::kFloat)).unsqueeze(1);
  for (const double spread : {1e-1, 1e-3, 1e-5}) {
    const Tensor a = (at::ones({8, 50}) + spread * at::randn({8, 50})) * scale;
    const Tensor b = (at::ones({8, 40}) + spread * at::randn({8, 40})) / scale;
    expect_scatter_of_outer(a, b);
  }
}

TEST(ScatterOfOuterProducts, IsRightInLinesThatCancelBesideLinesThatDoNot) {
  torch::manual_seed(1);
  Tensor a = at::randn({16, 30});
  a.slice(1, 7, 12).fill_(1).add_(1e-4 * at::randn({16, 5}));
  const Tensor b = at::ones({16, 20}) + 1e-4 * at::randn({16, 20});
  expect_scatter_of_outer(a, b);
}

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

TEST(JointHistograms, LeaveOutNaNOnEitherSide) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Questions questions;
  questions.joint_histograms = {JointBins{{-1, 1, 2}, {-1, 1, 2}}};
  questions.value_bins = {value_bin_index(at::tensor({-0.5, 5.0, nan}, at::kDouble), {-1, 1, 2})};
  const DenseForm form(at::tensor({0.5, nan, 0.5, -9.0, 0.5, nan}, at::kDouble).view({2, 3}), "");
  const Tensor counts = form.answer(questions).joint_histograms[0];
  EXPECT_TRUE(counts.equal(at::tensor({1, 0, 1, 1}, at::kLong).view({2, 2})));
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
