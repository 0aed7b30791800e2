// SPDX-License-Identifier: MIT
// Every variant of the products with sparse columns against the plain loops, and the loops against
// a hand count.
#include "kernels/sparse_columns/sparse_columns.h"

#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/sparse_columns/variants.h"
#include "kernels/ways_to_run.h"

namespace flightdeck::kernels {
namespace {

// Small integers: every sum and square is exact in float, so variants agree to the last bit.
template <typename Scalar>
std::vector<Scalar> integers(int64_t size, double share, std::mt19937& random) {
  std::bernoulli_distribution is_there(share);
  std::vector<Scalar> values;
  for (int64_t k = 0; k < size; ++k)
    values.push_back(is_there(random) ? Scalar(int(random() % 5) - 2) : Scalar(0));
  return values;
}

struct Sizes {
  int64_t K, N, J, T, runs, run;
};

template <typename Scalar>
struct SquaresProblem {
  std::vector<std::vector<Scalar>> columns;
  std::vector<const Scalar*> b;
  std::vector<Scalar> a, squares;
  std::vector<int64_t> base, step;
  SparseSquares<Scalar> work;

  SquaresProblem(Sizes sizes, double share) {
    const auto [K, N, J, T, runs, run] = sizes;
    std::mt19937 random(7);
    const int64_t spread = 40;
    for (int64_t k = 0; k < K; ++k) columns.push_back(integers<Scalar>(N * J * T, share, random));
    for (const auto& column : columns) b.push_back(column.data());
    for (int64_t r = 0; r < runs; ++r) base.push_back(int64_t(random() % spread));
    for (int64_t t = 0; t < T; ++t) step.push_back(int64_t(random() % spread));
    a = integers<Scalar>(N * (2 * spread + run) + kReadAhead, 1, random);
    // What no run covers is read at most.
    for (int64_t k = 0; k < kReadAhead; ++k)
      a[a.size() - 1 - size_t(k)] = std::numeric_limits<Scalar>::quiet_NaN();
    squares.assign(size_t(J * runs * run), Scalar(-77));
    work.K = K, work.N = N, work.J = J, work.T = T, work.runs = runs, work.run = run;
    work.a_sample = 2 * spread + run;
    work.b = b.data(), work.a = a.data(), work.base = base.data(), work.step = step.data();
    work.squares = squares.data();
  }
  SquaresProblem(const SquaresProblem&) = delete;
  SquaresProblem& operator=(const SquaresProblem&) = delete;
};

struct InputSizes {
  int64_t K, N, J, T, C, P, offsets;
};

template <typename Scalar>
struct InputsProblem {
  std::vector<Scalar> b, w, x;
  std::vector<typename SparseInputs<Scalar>::Pair> pairs;
  std::vector<int64_t> first;
  SparseInputs<Scalar> work;

  InputsProblem(InputSizes sizes, double share) {
    const auto [K, N, J, T, C, P, offsets] = sizes;
    std::mt19937 random(11);
    b = integers<Scalar>(K * N * J * T, share, random);
    w = integers<Scalar>(J * offsets * C + kReadAhead, 1, random);
    for (int64_t k = 0; k < kReadAhead; ++k)
      w[w.size() - 1 - size_t(k)] = std::numeric_limits<Scalar>::quiet_NaN();
    for (int64_t p = 0; p < P; ++p) {
      first.push_back(int64_t(pairs.size()));
      for (int64_t r = int64_t(random() % 5); r > 0; --r)
        pairs.push_back({int32_t(random() % size_t(T)), int32_t(random() % size_t(offsets))});
    }
    first.push_back(int64_t(pairs.size()));
    x.assign(size_t(K * N * C * P), Scalar(-77));
    work.K = K, work.N = N, work.J = J, work.T = T, work.C = C, work.P = P;
    work.b = b.data(), work.w = w.data(), work.offsets = offsets;
    work.pairs = pairs.data(), work.first = first.data(), work.x = x.data();
  }
  InputsProblem(const InputsProblem&) = delete;
  InputsProblem& operator=(const InputsProblem&) = delete;
};

struct SparseIsa {
  const char* name;
  const SparseKernels* (*kernels)();
};

const SparseIsa kSparseIsas[] = {{"avx2", avx2_sparse_kernels}, {"avx512", avx512_sparse_kernels}};

class SparseColumnsTest : public ::testing::TestWithParam<SparseIsa> {
 protected:
  void SetUp() override {
    kernels_ = GetParam().kernels();
    if (kernels_ == nullptr) GTEST_SKIP() << "this build or processor has no " << GetParam().name;
  }

  template <typename Scalar>
  void expect_same_squares(Sizes sizes, double share) const {
    SquaresProblem<Scalar> expected(sizes, share), actual(sizes, share);
    run_reference(expected.work);
    run_sparse_squares(actual.work, kernels_, run_backwards, 2);
    EXPECT_EQ(actual.squares, expected.squares)
        << sizes.K << " columns, " << sizes.T << " positions, runs of " << sizes.run;
  }

  template <typename Scalar>
  void expect_same_inputs(InputSizes sizes, double share) const {
    InputsProblem<Scalar> expected(sizes, share), actual(sizes, share);
    run_reference(expected.work);
    run_sparse_inputs(actual.work, kernels_, run_backwards);
    EXPECT_EQ(actual.x, expected.x)
        << sizes.K << " columns, " << sizes.T << " positions, " << sizes.C << " channels";
  }

  const SparseKernels* kernels_ = nullptr;
};

INSTANTIATE_TEST_SUITE_P(Isa,
                         SparseColumnsTest,
                         ::testing::ValuesIn(kSparseIsas),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(SparseColumnsTest, SquaresAreThoseOfThePlainLoopsForAnyNumberOfColumns) {
  for (int64_t K : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 17, 19}) {
    expect_same_squares<float>({K, 3, 5, 21, 2, 48}, 0.3);
    expect_same_squares<double>({K, 3, 5, 21, 2, 48}, 0.3);
  }
}

TEST_P(SparseColumnsTest, SquaresAreThoseOfThePlainLoopsForRunsOfAnyLength) {
  for (int64_t run : {1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 48, 49, 63, 64, 65, 96, 130}) {
    expect_same_squares<float>({9, 2, 3, 10, 3, run}, 0.4);
    expect_same_squares<double>({9, 2, 3, 10, 3, run}, 0.4);
  }
}

TEST_P(SparseColumnsTest, SquaresAreThoseOfThePlainLoopsWhateverIsZero) {
  for (double share : {0.0, 0.02, 0.5, 1.0}) {
    for (int64_t T : {1, 4, 15, 16, 17, 70}) {
      expect_same_squares<float>({2, 3, 7, T, 2, 20}, share);
      expect_same_squares<double>({2, 3, 7, T, 2, 20}, share);
    }
  }
}

TEST_P(SparseColumnsTest, InputsAreThoseOfThePlainLoopsForAnyNumberOfColumnsAndChannels) {
  for (int64_t K : {1, 2, 4, 5, 9, 11, 18}) {
    for (int64_t C : {1, 3, 4, 8, 15, 16, 17, 40, 64, 70}) {
      expect_same_inputs<float>({K, 2, 6, 19, C, 13, 5}, 0.3);
      expect_same_inputs<double>({K, 2, 6, 19, C, 13, 5}, 0.3);
    }
  }
}

TEST_P(SparseColumnsTest, InputsAreThoseOfThePlainLoopsWhateverIsZero) {
  for (double share : {0.0, 0.02, 0.5, 1.0}) {
    for (int64_t P : {1, 7, 300}) {
      expect_same_inputs<float>({9, 3, 6, 33, 16, P, 9}, share);
      expect_same_inputs<double>({9, 3, 6, 33, 16, P, 9}, share);
    }
  }
}

TEST_P(SparseColumnsTest, ThreadsDoNotChangeTheResult) {
  const Sizes sizes{9, 4, 33, 25, 3, 50};
  SquaresProblem<float> alone(sizes, 0.3), together(sizes, 0.3);
  run_sparse_squares(alone.work, kernels_, run_backwards, 1);
  run_sparse_squares(together.work, kernels_, run_on_threads, 8);
  EXPECT_EQ(alone.squares, together.squares);
  InputsProblem<float> one({9, 5, 6, 33, 16, 40, 9}, 0.3), many({9, 5, 6, 33, 16, 40, 9}, 0.3);
  run_sparse_inputs(one.work, kernels_, run_backwards);
  run_sparse_inputs(many.work, kernels_, run_on_threads);
  EXPECT_EQ(one.x, many.x);
}

TEST_P(SparseColumnsTest, NotANumberInAColumnIsNoZero) {
  SquaresProblem<float> problem({2, 1, 1, 20, 1, 16}, 0.2);
  problem.columns[1][18] = std::numeric_limits<float>::quiet_NaN();
  run_sparse_squares(problem.work, kernels_, run_backwards, 1);
  EXPECT_NE(problem.squares[3], problem.squares[3]);
}

TEST(SparseColumnsReferenceTest, SquaresAreAddedOverColumnsAndSamples) {
  const std::vector<double> first{1, 0, 0, 2}, second{0, 3, 0, 0};  // two samples, two positions
  const std::vector<const double*> b{first.data(), second.data()};
  std::vector<double> a{1, 2, 3, 4, 5, 6};  // three entries a sample
  a.resize(a.size() + kReadAhead);
  const std::vector<int64_t> base{0}, step{0, 1};
  std::vector<double> squares(2);
  SparseSquares<double> work;
  work.K = 2, work.N = 2, work.J = 1, work.T = 2, work.runs = 1, work.run = 2;
  work.b = b.data(), work.a = a.data(), work.a_sample = 3;
  work.base = base.data(), work.step = step.data(), work.squares = squares.data();
  run_reference(work);
  // Rows: 1·(1, 2), 2·(5, 6), 3·(2, 3), 0.
  EXPECT_EQ(squares, (std::vector<double>{1 + 100 + 36, 4 + 144 + 81}));
}

TEST(SparseColumnsReferenceTest, InputsAreAddedOverPairsAndChannels) {
  const std::vector<double> b{1, 0, 0, 2};            // two channels, two positions
  std::vector<double> w{1, 10, 2, 20, 3, 30, 4, 40};  // [2 channels, 2 offsets, 2 inputs]
  w.resize(w.size() + kReadAhead);
  const std::vector<SparseInputs<double>::Pair> pairs{{0, 0}, {1, 1}, {1, 0}};
  const std::vector<int64_t> first{0, 2, 3};
  std::vector<double> x(4);
  SparseInputs<double> work;
  work.K = 1, work.N = 1, work.J = 2, work.T = 2, work.C = 2, work.P = 2, work.offsets = 2;
  work.b = b.data(), work.w = w.data(), work.pairs = pairs.data(), work.first = first.data();
  work.x = x.data();
  run_reference(work);
  EXPECT_EQ(x, (std::vector<double>{1 + 2 * 4, 2 * 3, 10 + 2 * 40, 2 * 30}));
}

}  // namespace
}  // namespace flightdeck::kernels
