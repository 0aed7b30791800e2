// SPDX-License-Identifier: MIT
// Every variant of the patch products against the plain loops, and the loops against a hand count.
#include "kernels/patch_products/patch_products.h"

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/patch_products/variants.h"
#include "kernels/ways_to_run.h"

namespace flightdeck::kernels {
namespace {

struct Shape {
  int64_t N, T, I, J;
};

enum class Order { kPositionsContiguous, kColumnsContiguous, kScattered };

enum class Values { kIntegers, kReals };

template <typename Scalar>
struct Problem {
  std::vector<int64_t> base, step;
  std::vector<Scalar> a, b, sum, second, rows;
  std::vector<double> squared_norms;
  PatchProducts<Scalar> work;

  // Results start as a guard value; rows of consecutive samples are two elements apart.
  Problem(Shape shape, Order order, Values values) {
    const auto [N, T, I, J] = shape;
    std::mt19937 random(7);
    const int64_t spread = 50;
    for (int64_t i = 0; i < I; ++i) base.push_back(int64_t(random() % spread));
    for (int64_t t = 0; t < T; ++t) step.push_back(int64_t(random() % spread));
    work.N = N, work.T = T, work.I = I, work.J = J;
    work.a_sample = 2 * spread;
    const int64_t gap = order == Order::kScattered ? 2 : 1;
    work.b_t = (order == Order::kColumnsContiguous ? J : 1) * gap;
    work.b_j = (order == Order::kColumnsContiguous ? 1 : T) * gap;
    work.b_sample = T * J * gap;
    work.rows_sample = I * J + 2;

    // One element in front: loads start off the vector's alignment.
    fill(a, N * work.a_sample + 1, values, random);
    fill(b, N * work.b_sample + 1, values, random);
    sum.assign(size_t(I * J), kGuard);
    second.assign(size_t(I * J), kGuard);
    rows.assign(size_t(N * work.rows_sample), kGuard);
    squared_norms.assign(size_t(N), double(kGuard));
    work.base = base.data(), work.step = step.data();
    ask(true, true, true, true);
  }

  Problem(const Problem& other) { *this = other; }

  Problem& operator=(const Problem& other) {
    base = other.base, step = other.step, a = other.a, b = other.b;
    sum = other.sum, second = other.second, rows = other.rows;
    squared_norms = other.squared_norms, work = other.work;
    work.base = base.data(), work.step = step.data();
    ask(work.sum, work.second, work.squared_norms, work.rows);
    return *this;
  }

  void ask(bool for_sum, bool for_second, bool for_norms, bool for_rows) {
    work.a = a.data() + 1;
    work.b = b.data() + 1;
    work.sum = for_sum ? sum.data() : nullptr;
    work.second = for_second ? second.data() : nullptr;
    work.squared_norms = for_norms ? squared_norms.data() : nullptr;
    work.rows = for_rows ? rows.data() : nullptr;
  }

  // Integers of size 2: every sum and square is exact in float, so variants agree to the last bit.
  static void fill(std::vector<Scalar>& to, int64_t size, Values values, std::mt19937& random) {
    std::uniform_real_distribution<Scalar> real(-1, 1);
    for (int64_t k = 0; k < size; ++k)
      to.push_back(values == Values::kReals ? real(random) : Scalar(int(random() % 5) - 2));
  }

  static constexpr Scalar kGuard = -77;
};

struct Isa {
  const char* name;
  const BlockKernels* (*kernels)();
};

const Isa kIsas[] = {{"reference", []() -> const BlockKernels* { return nullptr; }},
                     {"avx2", avx2_kernels},
                     {"avx512", avx512_kernels}};

class PatchProductsTest : public ::testing::TestWithParam<Isa> {
 protected:
  void SetUp() override {
    kernels_ = GetParam().kernels();
    if (kernels_ == nullptr && GetParam().name != std::string("reference"))
      GTEST_SKIP() << "this build or processor has no " << GetParam().name;
  }

  template <typename Scalar>
  Problem<Scalar> solved(Problem<Scalar> problem, int threads = 2) const {
    run_patch_products(problem.work, kernels_, run_backwards, threads);
    return problem;
  }

  template <typename Scalar>
  static Problem<Scalar> solved_by_reference(Problem<Scalar> problem) {
    run_reference(problem.work, run_backwards, 1);
    return problem;
  }

  template <typename Scalar>
  void expect_same_as_reference(const Problem<Scalar>& problem) const {
    const Problem<Scalar> expected = solved_by_reference(problem), actual = solved(problem);
    EXPECT_EQ(actual.sum, expected.sum);
    EXPECT_EQ(actual.second, expected.second);
    EXPECT_EQ(actual.squared_norms, expected.squared_norms);
    EXPECT_EQ(actual.rows, expected.rows);
  }

  const BlockKernels* kernels_ = nullptr;
};

INSTANTIATE_TEST_SUITE_P(Isa, PatchProductsTest, ::testing::ValuesIn(kIsas), [](const auto& info) {
  return std::string(info.param.name);
});

// Around the lanes of both vector widths (4, 8, 16), the tile heights (6, 8) and the block widths.
std::vector<Shape> shapes() {
  std::vector<Shape> result;
  for (int64_t J : {1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 48, 63, 64, 65, 131})
    result.push_back({3, 19, 7, J});
  for (int64_t I : {1, 2, 3, 4, 5, 6, 8, 9, 11, 12, 13, 75})
    for (int64_t J : {10, 24, 40, 64}) result.push_back({2, 5, I, J});
  for (int64_t T : {1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 301})
    result.push_back({2, T, 6, 20});
  for (int64_t N : {1, 2, 33, 129}) result.push_back({N, 37, 5, 18});
  return result;
}

std::string describe(Shape shape, Order order) {
  return "N " + std::to_string(shape.N) + ", T " + std::to_string(shape.T) + ", I " +
         std::to_string(shape.I) + ", J " + std::to_string(shape.J) + ", order " +
         std::to_string(int(order));
}

TEST_P(PatchProductsTest, EqualReferenceOnIntegersForEveryShapeAndOrder) {
  for (Order order : {Order::kPositionsContiguous, Order::kColumnsContiguous, Order::kScattered}) {
    for (Shape shape : shapes()) {
      SCOPED_TRACE(describe(shape, order));
      expect_same_as_reference(Problem<float>(shape, order, Values::kIntegers));
      expect_same_as_reference(Problem<double>(shape, order, Values::kIntegers));
    }
  }
}

// A dot product of T terms of size at most 1 is off by at most T eps times the sum of their sizes,
// which is at most T. Two variants differ by twice that, and their squares by 2 |G| <= 2 T times
// it. Sums over n are doubled for their own rounding.
template <typename Scalar>
void expect_near(const Problem<Scalar>& actual, const Problem<Scalar>& expected, Shape shape) {
  const double eps = double(std::numeric_limits<Scalar>::epsilon());
  const double N = double(shape.N), T = double(shape.T), size = double(shape.I * shape.J);
  const double dot_tolerance = 2 * T * T * eps;
  const double square_tolerance = 2 * T * dot_tolerance;
  for (size_t k = 0; k < expected.rows.size(); ++k)
    ASSERT_NEAR(actual.rows[k], expected.rows[k], dot_tolerance);
  for (size_t k = 0; k < expected.sum.size(); ++k) {
    ASSERT_NEAR(actual.sum[k], expected.sum[k], 2 * N * dot_tolerance);
    ASSERT_NEAR(actual.second[k], expected.second[k], 2 * N * square_tolerance);
  }
  // A tile adds up to 384 squares in Scalar before they enter the sum in double.
  for (size_t n = 0; n < expected.squared_norms.size(); ++n) {
    const double norm = expected.squared_norms[n];
    ASSERT_NEAR(actual.squared_norms[n], norm, size * square_tolerance + 384 * eps * norm);
  }
}

TEST_P(PatchProductsTest, AgreeWithReferenceOnRealsUpToRounding) {
  for (Order order : {Order::kPositionsContiguous, Order::kColumnsContiguous}) {
    const Shape shape{5, 36, 27, 101};
    const Problem<float> in_float(shape, order, Values::kReals);
    expect_near(solved(in_float), solved_by_reference(in_float), shape);
    const Problem<double> in_double(shape, order, Values::kReals);
    expect_near(solved(in_double), solved_by_reference(in_double), shape);
  }
}

TEST_P(PatchProductsTest, CountTermsWhenAllFactorsAreOne) {
  Problem<float> problem({3, 9, 10, 35}, Order::kPositionsContiguous, Values::kIntegers);
  problem.a.assign(problem.a.size(), 1.0f);
  problem.b.assign(problem.b.size(), 1.0f);
  const Problem<float> actual = solved(problem);
  EXPECT_EQ(actual.sum, std::vector<float>(350, 3 * 9));
  EXPECT_EQ(actual.second, std::vector<float>(350, 3 * 81));
  EXPECT_EQ(actual.squared_norms, std::vector<double>(3, 350 * 81));
  EXPECT_EQ(actual.rows[349], 9);
}

TEST_P(PatchProductsTest, WriteOnlyWhatIsAskedFor) {
  const Problem<float> untouched({4, 20, 13, 37}, Order::kPositionsContiguous, Values::kIntegers);
  const Problem<float> full = solved_by_reference(untouched);
  for (int outputs = 0; outputs < 16; ++outputs) {
    SCOPED_TRACE("outputs " + std::to_string(outputs));
    Problem<float> problem = untouched;
    problem.ask(outputs & 1, outputs & 2, outputs & 4, outputs & 8);
    const Problem<float> actual = solved(problem);
    EXPECT_EQ(actual.sum, (outputs & 1 ? full : untouched).sum);
    EXPECT_EQ(actual.second, (outputs & 2 ? full : untouched).second);
    EXPECT_EQ(actual.squared_norms, (outputs & 4 ? full : untouched).squared_norms);
    EXPECT_EQ(actual.rows, (outputs & 8 ? full : untouched).rows);
  }
}

TEST_P(PatchProductsTest, AreZeroWhereThereIsNothingToAdd) {
  for (Shape shape : {Shape{0, 3, 4, 5}, {2, 0, 4, 5}, {2, 3, 0, 5}, {2, 3, 4, 0}, {0, 0, 0, 0}}) {
    SCOPED_TRACE(describe(shape, Order::kPositionsContiguous));
    const Problem<float> problem(shape, Order::kPositionsContiguous, Values::kIntegers);
    const Problem<float> actual = solved(problem);
    EXPECT_EQ(actual.sum, std::vector<float>(actual.sum.size(), 0));
    EXPECT_EQ(actual.second, std::vector<float>(actual.second.size(), 0));
    EXPECT_EQ(actual.squared_norms, std::vector<double>(actual.squared_norms.size(), 0));
    for (int64_t n = 0; n < shape.N; ++n)
      for (int64_t k = 0; k < shape.I * shape.J; ++k)
        EXPECT_EQ(actual.rows[size_t(n * problem.work.rows_sample + k)], 0);
  }
}

template <typename T>
void expect_same_or_both_nan(const std::vector<T>& actual, const std::vector<T>& expected) {
  for (size_t k = 0; k < expected.size(); ++k)
    ASSERT_TRUE(actual[k] == expected[k] || (std::isnan(actual[k]) && std::isnan(expected[k])))
        << "element " << k << ": " << actual[k] << " instead of " << expected[k];
}

TEST_P(PatchProductsTest, PassNanAndInfinityToTheElementsTheyBelongTo) {
  for (float poison : {std::numeric_limits<float>::quiet_NaN(),
                       std::numeric_limits<float>::infinity(),
                       -std::numeric_limits<float>::infinity()}) {
    for (bool is_in_a : {true, false}) {
      Problem<float> problem({4, 21, 30, 37}, Order::kPositionsContiguous, Values::kIntegers);
      if (is_in_a)
        problem.a[size_t(problem.work.a_sample + problem.base[3] + problem.step[2] + 1)] = poison;
      else
        problem.b[size_t(2 * problem.work.b_sample + 20)] = poison;
      const Problem<float> actual = solved(problem), expected = solved_by_reference(problem);
      expect_same_or_both_nan(actual.rows, expected.rows);
      expect_same_or_both_nan(actual.sum, expected.sum);
      expect_same_or_both_nan(actual.second, expected.second);
      expect_same_or_both_nan(actual.squared_norms, expected.squared_norms);
    }
  }
}

TEST_P(PatchProductsTest, KeepInfinityApartFromTheZerosOfThePadding) {
  Problem<float> problem({2, 18, 5, 17}, Order::kPositionsContiguous, Values::kIntegers);
  problem.a.assign(problem.a.size(), std::numeric_limits<float>::infinity());
  problem.b.assign(problem.b.size(), 1.0f);
  for (double squared_norm : solved(problem).squared_norms)
    EXPECT_EQ(squared_norm, std::numeric_limits<double>::infinity());
}

TEST_P(PatchProductsTest, DoNotDependOnTheNumberOfThreads) {
  for (Shape shape : {Shape{6, 50, 75, 64}, {3, 4, 1, 200}, {3, 4, 40, 3}}) {
    const Problem<float> problem(shape, Order::kPositionsContiguous, Values::kIntegers);
    const Problem<float> expected = solved_by_reference(problem);
    for (int threads : {0, 1, 2, 3, 7, 64}) {
      SCOPED_TRACE(std::to_string(threads) + " threads, " + describe(shape, {}));
      Problem<float> actual = problem;
      run_patch_products(actual.work, kernels_, run_on_threads, threads);
      EXPECT_EQ(actual.sum, expected.sum);
      EXPECT_EQ(actual.second, expected.second);
      EXPECT_EQ(actual.squared_norms, expected.squared_norms);
      EXPECT_EQ(actual.rows, expected.rows);
    }
  }
}

TEST_P(PatchProductsTest, AgreeForSamplesLargerThanTheScratch) {
  const Shape shape{2, 9000, 9, 70};
  expect_same_as_reference(Problem<double>(shape, Order::kPositionsContiguous, Values::kIntegers));
}

TEST(PatchProductsDispatch, NamesAVariantAndRunsIt) {
  const std::string_view isa = patch_products_isa();
  EXPECT_TRUE(isa == "avx512" || isa == "avx2" || isa == "reference") << isa;
  Problem<float> actual({2, 5, 6, 7}, Order::kPositionsContiguous, Values::kIntegers);
  Problem<float> expected = actual;
  patch_products(actual.work, run_backwards, 1);
  run_reference(expected.work, run_backwards, 1);
  EXPECT_EQ(actual.sum, expected.sum);
}

}  // namespace
}  // namespace flightdeck::kernels
