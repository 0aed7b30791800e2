// SPDX-License-Identifier: MIT
// The collectives themselves: of threads, of functions, and of a matrix whose samples lie on ranks.
#include <numeric>
#include <thread>

#include "errors.h"
#include "oracle.h"
#include "ranks/team.h"

namespace flightdeck::tests {
namespace {

class RanksTest : public SeededTest {};

using Body = std::function<void(const std::shared_ptr<Ranks>& ranks)>;

// Each of W ranks on a thread of its own.
void on_all(const std::vector<std::shared_ptr<Ranks>>& all, const Body& body) {
  std::vector<std::thread> threads;
  threads.reserve(all.size());
  for (const auto& ranks : all) threads.emplace_back([&body, &ranks] { body(ranks); });
  for (std::thread& thread : threads) thread.join();
}

// Of all ranks, [W, 2, 2].
Tensor numbers_of(int64_t W) {
  Tensor numbers = torch::arange(W * 4, at::kDouble).view({W, 2, 2});
  return (numbers * 1.7).sin();
}

void expect_collectives(Ranks& ranks) {
  const Tensor all = numbers_of(ranks.size()), own = all[ranks.rank()];
  const Tensor before = own.clone();
  expect_close(ranks.sum(own), all.sum(0), "sum", 1e-15);
  EXPECT_TRUE(ranks.max(own).equal(all.amax(0)));
  EXPECT_TRUE(ranks.min(own).equal(all.amin(0)));
  EXPECT_TRUE(ranks.gather(own).equal(all));
  EXPECT_TRUE(own.equal(before));
}

RanksFunctions functions_of(const std::shared_ptr<Ranks>& ranks) {
  RanksFunctions functions;
  functions.size = ranks->size();
  functions.rank = ranks->rank();
  functions.sum = [ranks](const Tensor& own) { return ranks->sum(own); };
  functions.max = [ranks](const Tensor& own) { return ranks->max(own); };
  functions.min = [ranks](const Tensor& own) { return ranks->min(own); };
  functions.gather = [ranks](const Tensor& own) { return ranks->gather(own); };
  return functions;
}

TEST_F(RanksTest, OfThreadsGiveSumLargestSmallestAndAll) {
  for (const int64_t W : {1, 2, 5}) {
    on_all(ranks_in_threads(W), [](const auto& ranks) { expect_collectives(*ranks); });
  }
}

TEST_F(RanksTest, OfFunctionsPassOnWhatTheyGive) {
  on_all(ranks_in_threads(3), [](const std::shared_ptr<Ranks>& ranks) {
    expect_collectives(*ranks_by(functions_of(ranks)));
  });
}

TEST_F(RanksTest, RefuseFunctionsThatAreMissingOrGiveOtherShapes) {
  const auto alone = ranks_in_threads(1)[0];
  RanksFunctions functions = functions_of(alone);
  functions.max = nullptr;
  expect_error([&] { (void)ranks_by(functions); }, {"ranks_by", "a function is missing"});
  functions = functions_of(alone);
  functions.rank = 1;
  expect_error([&] { (void)ranks_by(functions); }, {"rank 1 of 1 does not exist"});
  functions = functions_of(alone);
  functions.sum = functions.min = [](const Tensor& own) { return own.flatten(); };
  functions.gather = [](const Tensor& own) { return own.slice(0, 1); };
  const auto wrong = ranks_by(functions);
  const Tensor own = torch::ones({2, 2}, at::kDouble);
  expect_error([&] { (void)wrong->sum(own); }, {"sum of a tensor of shape", "another shape"});
  expect_error([&] { (void)wrong->min(own); }, {"min of a tensor of shape", "another shape"});
  expect_error([&] { (void)wrong->gather(own); }, {"gather of [2, 2] on 1 ranks gave 2 numbers"});
}

TEST_F(RanksTest, OfThreadsThrowWhereCallsDiffer) {
  on_all(ranks_in_threads(2), [](const std::shared_ptr<Ranks>& ranks) {
    const Tensor own = torch::ones({2 + ranks->rank()}, at::kDouble);
    expect_error([&] { (void)ranks->sum(own); }, {"make the same calls on all ranks"});
  });
  on_all(ranks_in_threads(2), [](const std::shared_ptr<Ranks>& ranks) {
    const Tensor own = torch::ones({2}, at::kDouble);
    const bool is_first = ranks->rank() == 0;
    expect_error([&] { (void)(is_first ? ranks->sum(own) : ranks->max(own)); },
                 {"make the same calls on all ranks"});
  });
}

// ---- matrices -----------------------------------------------------------------------------------

class Matrix final : public LinearOperator {
 public:
  explicit Matrix(Tensor matrix) : matrix_(std::move(matrix)) {}
  int64_t dim() const override { return matrix_.size(0); }
  at::TensorOptions options() const override { return matrix_.options(); }
  Tensor multiply(const Tensor& vectors) const override {
    TORCH_CHECK(matrix_.isfinite().all().item<bool>(), "the matrix is not finite");
    return vectors.matmul(matrix_.t());
  }

 private:
  Tensor matrix_;
};

TEST_F(RanksTest, MultiplyWithTheMeanOfTheirMatricesWeightedBySamples) {
  const std::vector<int64_t> samples = {3, 0, 5};
  const Tensor matrices = random({3, 4, 4}), vectors = random({2, 4});
  const Tensor mean = (3 * matrices[0] + 5 * matrices[2]) / 8;
  on_all(ranks_in_threads(3), [&](const std::shared_ptr<Ranks>& ranks) {
    const int64_t rank = ranks->rank();
    const auto own = std::make_shared<Matrix>(matrices[rank]);
    const auto all = over_ranks(own, samples[rank], ranks);
    EXPECT_EQ(all->dim(), 4);
    expect_close(all->multiply(vectors), vectors.matmul(mean.t()), "products", 1e-14);
  });
}

TEST_F(RanksTest, ThrowOnAllRanksWhatAProductThrowsOnOne) {
  const Tensor good = random({4, 4}), vectors = random({2, 4});
  on_all(ranks_in_threads(3), [&](const std::shared_ptr<Ranks>& ranks) {
    const bool is_bad = ranks->rank() == 1;
    const auto own = std::make_shared<Matrix>(is_bad ? good / 0 : good);
    const auto all = over_ranks(own, 2, ranks);
    expect_error([&] { (void)all->multiply(vectors); },
                 {is_bad ? "the matrix is not finite" : "it failed on 1 of 3 ranks"});
    // Nobody was left waiting.
    EXPECT_EQ(ranks->sum(torch::ones({1}, at::kDouble)).item<double>(), 3);
  });
  on_all(ranks_in_threads(2), [&](const std::shared_ptr<Ranks>& ranks) {
    const auto none = over_ranks(std::make_shared<Matrix>(good), 0, ranks);
    expect_error([&] { (void)none->multiply(vectors); }, {"none of the 2 ranks has a sample"});
  });
}

// ---- diagonals, traces and factors --------------------------------------------------------------

// Cross-entropy of a small net of its own for every thread, with the parameters of `like`.
class SmallNet {
 public:
  explicit SmallNet(const SmallNet* like = nullptr)
      : net(torch::nn::Linear(4, 3), torch::nn::Tanh(), torch::nn::Linear(3, 2)) {
    net->to(test_device(), at::kDouble);
    if (like == nullptr) return;
    const torch::NoGradGuard no_grad;
    const auto ours = net->parameters(), theirs = like->net->parameters();
    for (size_t p = 0; p < ours.size(); ++p) ours[p].copy_(theirs[p]);
  }
  Curvature curvature_of(const Tensor& inputs, const Tensor& labels, CurvatureNeeds what) {
    namespace F = torch::nn::functional;
    const Tensor losses = F::cross_entropy(
        net->forward(inputs), labels, F::CrossEntropyFuncOptions().reduction(torch::kNone));
    CurvatureOptions options;
    options.ekfac = true;
    return curvature(losses, net->named_parameters(), what, options);
  }

  torch::nn::Sequential net;
};

TEST_F(RanksTest, AddUpDiagonalsTracesAndFactorsWeightedBySamples) {
  const CurvatureNeeds what = CurvatureNeed::kDiagGgn | CurvatureNeed::kDiagHessian |
                              CurvatureNeed::kTraceGgn | CurvatureNeed::kKflr |
                              CurvatureNeed::kKfra;
  const std::vector<int64_t> begins = {0, 2, 5, 9};
  const Tensor inputs = random({9, 4}), labels = random_integers({9}, 2);
  SmallNet alone;
  const Curvature expected = alone.curvature_of(inputs, labels, what);
  on_all(ranks_in_threads(3), [&](const std::shared_ptr<Ranks>& ranks) {
    const int64_t begin = begins[ranks->rank()], end = begins[ranks->rank() + 1];
    SmallNet net(&alone);
    const Curvature own =
        net.curvature_of(inputs.slice(0, begin, end), labels.slice(0, begin, end), what);
    const Curvature all = over_ranks(own, *ranks);
    EXPECT_EQ(all.batch_size, 9);
    for (size_t p = 0; p < expected.parameters.size(); ++p) {
      const ParameterCurvature &one = all.parameters[p], &right = expected.parameters[p];
      expect_close(one.diag_ggn, right.diag_ggn, "diagonal of the GGN", 1e-12);
      expect_close(one.diag_hessian, right.diag_hessian, "diagonal of the Hessian", 1e-12);
      expect_close(one.trace_ggn, right.trace_ggn, "trace", 1e-12);
      expect_close(one.kflr.output, right.kflr.output, "factor of outputs", 1e-12);
      EXPECT_EQ(one.kflr.input.defined(), right.kflr.input.defined());
      if (right.kflr.input.defined()) {
        expect_close(one.kflr.input, right.kflr.input, "factor of inputs", 1e-12);
      }
      EXPECT_EQ(right.kflr.is_corrected(), right.kflr.input.defined());  // a bias has no need of it
      EXPECT_FALSE(one.kflr.is_corrected());
      EXPECT_TRUE(right.kfra.defined());
      EXPECT_FALSE(one.kfra.defined());
    }
    expect_close(all.total.trace_ggn, expected.total.trace_ggn, "trace of all", 1e-12);
  });
}

TEST_F(RanksTest, RefuseToAddUpOtherAnswersOnOtherRanks) {
  const Tensor inputs = random({3, 4}), labels = random_integers({3}, 2);
  SmallNet alone;
  on_all(ranks_in_threads(2), [&](const std::shared_ptr<Ranks>& ranks) {
    SmallNet net(&alone);
    const CurvatureNeeds what =
        ranks->rank() == 0 ? CurvatureNeed::kDiagGgn : CurvatureNeed::kTraceGgn;
    const Curvature own = net.curvature_of(inputs, labels, what);
    expect_error([&] { (void)over_ranks(own, *ranks); },
                 {"numbers of curvature", "ask for the same"});
  });
}

TEST_F(RanksTest, RefuseAMatrixThatIsNotThere) {
  const auto alone = ranks_in_threads(1)[0];
  const auto own = std::make_shared<Matrix>(random({4, 4}));
  expect_error([&] { (void)over_ranks(nullptr, 1, alone); }, {"over_ranks", "null"});
  expect_error([&] { (void)over_ranks(own, 1, nullptr); }, {"over_ranks", "null"});
  expect_error([&] { (void)over_ranks(own, -1, alone); }, {"samples is -1"});
}

}  // namespace
}  // namespace flightdeck::tests
