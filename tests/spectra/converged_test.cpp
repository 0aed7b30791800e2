// SPDX-License-Identifier: MIT
// What `converged` promises, over spectra of every kind: the value is within the tolerance. Spectra
// are made, not decomposed, so that thousands of them take seconds. --gtest_random_seed=N (1 and
// more) sweeps others.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include "flightdeck/spectra.h"
#include "spectra/matrices.h"

namespace flightdeck::tests {
namespace {

using Generator = std::mt19937_64;

double uniform(Generator& draw, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(draw);
}

int64_t integer(Generator& draw, int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(draw);
}

// Eigenvalues `values` in a basis of its own, a reflection: H diag(values) H, H = I - 2 u u'.
class Reflected : public LinearOperator {
 public:
  Reflected(const Tensor& values, const Tensor& normal, at::ScalarType type)
      : values_(values.to(type)), normal_((normal / normal.norm()).to(type)) {}
  int64_t dim() const override { return values_.size(0); }
  at::TensorOptions options() const override { return values_.options(); }
  Tensor multiply(const Tensor& vectors) const override {
    return reflected(reflected(vectors) * values_);
  }

 private:
  Tensor reflected(const Tensor& vectors) const {
    return vectors - 2 * vectors.mv(normal_).unsqueeze(1) * normal_;
  }

  Tensor values_, normal_;
};

Tensor between(int64_t D, double low, double high) {
  return low + (high - low) * at::rand({D}, at::kDouble);
}

struct Family {
  const char* name;
  Tensor (*values)(Generator& draw, int64_t D, double tolerance);  // [D]
};

const Family kFamilies[] = {
    {"Uniform", [](Generator&, int64_t D, double) { return between(D, -1, 1); }},
    {"Positive", [](Generator&, int64_t D, double) { return between(D, 0, 1); }},
    {"NegativeDefinite", [](Generator&, int64_t D, double) { return between(D, -2, -0.1); }},
    {"Normal", [](Generator&, int64_t D, double) { return at::randn({D}, at::kDouble); }},
    {"Clustered",
     [](Generator& draw, int64_t D, double) {
       const Tensor centres = between(integer(draw, 2, 6), -1, 1);
       const double width = std::pow(10, uniform(draw, -8, -2));
       return centres.index_select(0, at::randint(centres.size(0), {D}, at::kLong)) +
              width * at::randn({D}, at::kDouble);
     }},
    {"Degenerate",
     [](Generator& draw, int64_t D, double) {
       const Tensor distinct = between(integer(draw, 2, 8), -1, 1);
       return distinct.index_select(0, at::randint(distinct.size(0), {D}, at::kLong));
     }},
    {"OneOutlier",
     [](Generator& draw, int64_t D, double) {
       Tensor values = between(D, -1, 1);
       values[0] = std::pow(10, uniform(draw, 0, 3)) * (integer(draw, 0, 1) == 0 ? 1 : -1);
       return values;
     }},
    // The hardest: a single eigenvalue beyond an edge, by more than the tolerance.
    {"JustBeyondABulk",
     [](Generator& draw, int64_t D, double tolerance) {
       Tensor values = between(D, 0, 1);
       values[0] = values.max() * (1 + tolerance * uniform(draw, 1, 4));
       return values;
     }},
    {"JustBeyondACopy",
     [](Generator& draw, int64_t D, double tolerance) {
       Tensor values = between(D, -1, 1);
       values[0] = 2 + uniform(draw, 0, 8);
       values[D - 1] = values[0] * (1 + tolerance * uniform(draw, 1, 4));
       return values;
     }},
    {"TinyGaps",
     [](Generator& draw, int64_t D, double) {
       const double step = std::pow(10, uniform(draw, -8, -2));
       const Tensor ladder = at::arange(D, at::kDouble) * step;
       return integer(draw, 0, 1) == 0 ? 1 + ladder : between(D, 0, 1).round() + ladder;
     }},
    {"PowerLaw",
     [](Generator& draw, int64_t D, double) {
       const Tensor values = at::arange(1, D + 1, at::kDouble).pow(-uniform(draw, 0.3, 3));
       return values *
              (at::rand({D}, at::kDouble) < uniform(draw, 0, 1)).to(at::kDouble).mul(2).sub(1);
     }},
    {"LowRank",
     [](Generator& draw, int64_t D, double) {
       Tensor values = at::zeros({D}, at::kDouble);
       const int64_t rank = integer(draw, 1, std::min<int64_t>(D, 8));
       values.slice(0, 0, rank).copy_(at::randn({rank}, at::kDouble));
       return values;
     }},
    {"RankOne",
     [](Generator& draw, int64_t D, double) {
       Tensor values = at::zeros({D}, at::kDouble);
       values[0] = uniform(draw, -3, 3);
       return values;
     }},
    {"AllEqual",
     [](Generator& draw, int64_t D, double) {
       return at::full({D}, uniform(draw, -2, 2), at::kDouble);
     }},
};

// Where a search begins: nowhere, or from the eigenvectors of an operator that was this one once.
enum class Past { kNone, kSame, kSmallDrift, kLargeDrift, kCrossing };

struct Question {
  Tensor values;  // [D], descending
  Tensor normal;  // [D]
  at::ScalarType type = at::kDouble;
  EigenOptions options;

  Reflected op() const { return Reflected(values, normal, type); }
};

Question make_question(Generator& draw, const Family& family, bool is_large) {
  Question question;
  EigenOptions& options = question.options;
  options.tolerance = std::pow(10, uniform(draw, -6, -1));
  const int64_t D = integer(draw, 2, is_large ? 300 : 80);
  // Float64 of exact values, so that float32 operators have the same ones.
  question.values = family.values(draw, D, options.tolerance).to(at::kFloat).to(at::kDouble);
  question.normal = at::randn({D}, at::kDouble);
  if (integer(draw, 0, 3) == 0) question.type = at::kFloat;
  options.largest = integer(draw, 0, 1);
  options.smallest = options.largest == 0 ? 1 : integer(draw, 0, 1);
  if (integer(draw, 0, 4) == 0) {
    options.largest = integer(draw, 1, std::min<int64_t>(D, 3));
    options.smallest = integer(draw, 0, std::min<int64_t>(D, 2));
  }
  if (integer(draw, 0, 9) == 0) options.method = EigenMethod::kLobpcg;
  options.max_products = integer(draw, 5, 120);
  options.until_proved = integer(draw, 0, 2) > 0;
  options.seed = draw();
  return question;
}

// Eigenvectors that a search on the operator of the past has found.
Tensor start_of(Generator& draw, Past past, const Question& now) {
  if (past == Past::kNone) return Tensor();
  const int64_t D = now.values.size(0);
  Question then = now;
  then.options.seed = draw();
  const double drift = past == Past::kSmallDrift ? std::pow(10, uniform(draw, -6, -1)) : 1;
  if (past == Past::kSmallDrift || past == Past::kLargeDrift) {
    then.values = now.values * (1 + drift * at::randn({D}, at::kDouble));
    then.normal = now.normal + drift * at::randn({D}, at::kDouble);
  }
  // The same vectors, other values: what led then is somewhere inside now.
  if (past == Past::kCrossing) then.values = now.values.index_select(0, at::randperm(D, at::kLong));
  return eigenpairs(then.op(), then.options).vectors;
}

struct Tally {
  int64_t pairs = 0, converged = 0, wrong = 0, beyond = 0;
};

void count(const Question& question, const Eigenpairs& pairs, Tally& tally) {
  const EigenOptions& options = question.options;
  const Tensor sorted = std::get<0>(question.values.sort());
  const int64_t D = sorted.size(0);
  const double norm = sorted.abs().max().item<double>();
  // As documented: a hundred units of rounding are always allowed.
  const double rounding = 100 * norm * (question.type == at::kDouble ? 2.3e-16 : 1.2e-7);
  for (int64_t k = 0; k < pairs.values.size(0); ++k) {
    const bool is_upper = k < options.largest;
    const int64_t position = is_upper ? D - 1 - k : k - options.largest;
    const double truth = sorted[position].item<double>();
    const double excess = (pairs.values[k].item<double>() - truth) * (is_upper ? 1 : -1);
    const double allowed =
        std::max(options.tolerance * std::max(std::abs(truth), options.floor * norm), rounding);
    ++tally.pairs;
    if (excess > rounding) ++tally.beyond;
    if (!pairs.converged[k]) continue;
    ++tally.converged;
    if (std::abs(excess) <= allowed) continue;
    ++tally.wrong;
    std::cout << "  wrong: pair " << k << " of " << options.largest << " + " << options.smallest
              << " of D = " << D << " in " << question.type << " at tolerance " << options.tolerance
              << ": " << pairs.values[k].item<double>() << " instead of " << truth << ", allowed "
              << allowed << ", bound " << pairs.errors[k].item<double>() << ", " << pairs.products
              << " products\n";
  }
}

// Sweeps `trials` spectra of each family; returns the sum and prints what each family gave.
Tally sweep(Past past, int64_t trials, bool is_large) {
  Tally sum;
  for (size_t f = 0; f < std::size(kFamilies); ++f) {
    const Family& family = kFamilies[f];
    Tally tally;
    int64_t products = 0;
    for (int64_t trial = 0; trial < trials; ++trial) {
      const auto seed = static_cast<uint64_t>(testing::UnitTest::GetInstance()->random_seed());
      Generator draw(seed * 1000003 + static_cast<uint64_t>(trial) * std::size(kFamilies) + f);
      torch::manual_seed(draw());
      Question question = make_question(draw, family, is_large);
      question.options.start = start_of(draw, past, question);
      const Eigenpairs pairs = eigenpairs(question.op(), question.options);
      EXPECT_TRUE(pairs.is_finite) << family.name << " " << trial;
      EXPECT_LE(pairs.products, question.options.max_products) << family.name << " " << trial;
      count(question, pairs, tally);
      products += pairs.products;
    }
    std::cout << family.name << ": " << tally.converged << " of " << tally.pairs << " converged, "
              << tally.wrong << " of them wrong, " << products / trials << " products\n";
    EXPECT_EQ(tally.beyond, 0) << family.name;
    sum.pairs += tally.pairs;
    sum.converged += tally.converged;
    sum.wrong += tally.wrong;
  }
  return sum;
}

class ConvergedPairs : public testing::TestWithParam<std::pair<const char*, Past>> {};

TEST_P(ConvergedPairs, AreWithinTheirTolerance) {
  const bool is_cold = GetParam().second == Past::kNone;
  // Enough for a thousand that have converged: one in a thousand may be wrong, and which one it is
  // may hang on a rounding.
  const Tally sum = sweep(GetParam().second, 64, /*is_large=*/is_cold);
  EXPECT_LE(1000 * sum.wrong, sum.converged);
  EXPECT_GT(2 * sum.converged, sum.pairs);  // or the promise is worth little
}

INSTANTIATE_TEST_SUITE_P(From,
                         ConvergedPairs,
                         testing::Values(std::make_pair("RandomLines", Past::kNone),
                                         std::make_pair("TheSameOperator", Past::kSame),
                                         std::make_pair("ASmallDrift", Past::kSmallDrift),
                                         std::make_pair("ALargeDrift", Past::kLargeDrift),
                                         std::make_pair("PairsThatCrossed", Past::kCrossing)),
                         [](const auto& info) { return std::string(info.param.first); });

TEST(ConvergedPairs, OfOneOperatorDoNotWalk) {
  Generator draw(1);
  for (const Family& family : kFamilies) {
    torch::manual_seed(3);
    Question question = make_question(draw, family, /*is_large=*/true);
    question.options.tolerance = 1e-2;
    question.options.max_products = 100;
    std::vector<Tally> calls(6);
    for (Tally& tally : calls) {
      ++question.options.seed;
      const Eigenpairs pairs = eigenpairs(question.op(), question.options);
      count(question, pairs, tally);
      EXPECT_EQ(tally.wrong, 0) << family.name;
      question.options.start = pairs.vectors;
    }
  }
}

}  // namespace
}  // namespace flightdeck::tests
