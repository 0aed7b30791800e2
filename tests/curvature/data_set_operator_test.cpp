// SPDX-License-Identifier: MIT
// Matrices of a data set that is streamed batch by batch, against those of one batch of everything
// and against dense matrices.
#include <filesystem>
#include <fstream>
#include <thread>

#include "curvature/dense_oracle.h"
#include "errors.h"
#include "oracle.h"
#include "tensors.h"

namespace flightdeck::tests {
namespace {

namespace nn = torch::nn;
namespace fs = std::filesystem;

constexpr int64_t kSamples = 11;

class DataSetOperatorTest : public SeededTest {
 protected:
  DataSetOperatorTest()
      : net_(on_device(nn::Sequential(nn::Linear(4, 5), nn::Sigmoid(), nn::Linear(5, 3)))),
        inputs_(random({kSamples, 4})),
        labels_(random_integers({kSamples}, 3)),
        parameters_(net_->named_parameters()) {}

  // Batches of `size`; the last one is what is left.
  BatchSource source(int64_t size) const {
    return [this, size](int64_t k) {
      ++forward_passes_;
      const int64_t begin = k * size, end = std::min(begin + size, kSamples);
      return Batch(losses_of(net_->forward(inputs_.slice(0, begin, end)), begin, end), parameters_);
    };
  }
  // The same for several threads: nobody counts.
  BatchSource quiet_source(int64_t size) const {
    return [this, size](int64_t k) {
      const int64_t begin = k * size, end = std::min(begin + size, kSamples);
      return Batch(losses_of(net_->forward(inputs_.slice(0, begin, end)), begin, end), parameters_);
    };
  }
  static int64_t batches(int64_t size) { return (kSamples + size - 1) / size; }

  Tensor losses_of(const Tensor& outputs, int64_t begin, int64_t end) const {
    return cross_entropies(outputs, labels_.slice(0, begin, end));
  }

  DenseCurvature dense() const {
    const Tensor outputs = net_->forward(inputs_);
    return dense_curvature(losses_of(outputs, 0, kSamples), outputs, parameters_);
  }

  std::string folder() const {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    const fs::path path = fs::temp_directory_path() / (std::string("flightdeck_") + test->name());
    fs::remove_all(path);
    return path.string();
  }

  mutable nn::Sequential net_;
  Tensor inputs_, labels_;
  Parameters parameters_;
  mutable int64_t forward_passes_ = 0;
};

TEST_F(DataSetOperatorTest, IsTheOperatorOfAllSamplesWhateverTheBatches) {
  const DenseCurvature all = dense();
  const std::vector<std::pair<CurvatureKind, Tensor>> matrices = {
      {CurvatureKind::kGgn, all.ggn()},
      {CurvatureKind::kHessian, all.hessian()},
      {CurvatureKind::kEmpiricalFisher, all.empirical_fisher()}};
  for (const auto& [kind, matrix] : matrices) {
    for (int64_t size : {1, 4, 11}) {
      const auto op = data_set_operator(batches(size), source(size), kind);
      ASSERT_EQ(op->dim(), matrix.size(0));
      const Tensor vectors = random({3, op->dim()});
      expect_close(op->multiply(vectors), vectors.matmul(matrix), "products", kCurvatureTolerance);
      expect_close(op->gradient(), all.gradient(), "gradient", kCurvatureTolerance);
      expect_close(op->join(op->split(vectors)), vectors, "vectors");
    }
  }
}

TEST_F(DataSetOperatorTest, OfPositiveCurvatureIsThatOfOneBatchOfEverything) {
  const Tensor losses = losses_of(net_->forward(inputs_), 0, kSamples);
  for (CurvatureKind kind : {CurvatureKind::kPchAbs, CurvatureKind::kPchClip}) {
    const auto whole = curvature_operator(losses, parameters_, kind);
    const Tensor vectors = random({2, whole->dim()});
    expect_close(data_set_operator(batches(4), source(4), kind)->multiply(vectors),
                 whole->multiply(vectors),
                 "products",
                 kCurvatureTolerance);
  }
}

TEST_F(DataSetOperatorTest, KeepsCurvatureWithinGroupsAlone) {
  DataSetOptions options;
  options.groups = each_alone(parameters_);
  const auto op = data_set_operator(batches(3), source(3), CurvatureKind::kGgn, options);
  const Tensor vectors = random({2, op->dim()});
  expect_close(op->multiply(vectors),
               vectors.matmul(within_groups(dense().ggn(), parameters_, options.groups)),
               "blocks",
               kCurvatureTolerance);
}

TEST_F(DataSetOperatorTest, CountsChosenSamplesOnly) {
  const auto first_two = [this](int64_t k) { return source(4)(k).of({0, 1}); };
  const auto op = data_set_operator(2, first_two, CurvatureKind::kGgn);
  const Tensor vectors = random({2, op->dim()});
  expect_close(op->multiply(vectors),
               vectors.matmul(dense().select({0, 1, 4, 5}).ggn()),
               "part of the data",
               kCurvatureTolerance);
}

TEST_F(DataSetOperatorTest, HasTheSpectrumTraceAndEigenspaceOfTheDenseMatrix) {
  const Tensor ggn = dense().ggn();
  const auto op = data_set_operator(batches(4), source(4), CurvatureKind::kGgn);
  const auto [values, vectors] = at::linalg_eigh(ggn);
  EigenOptions search;
  search.largest = 3;
  search.tolerance = 1e-8;
  const Eigenpairs pairs = eigenpairs(*op, search);
  expect_close(
      pairs.values, values.flip(0).slice(0, 0, 3).to(pairs.values.options()), "eigenvalues", 1e-6);
  const Tensor leading = vectors.flip(1).slice(1, 0, 3).t();
  EXPECT_NEAR(subspace_overlap(pairs.vectors, leading), 1.0, 1e-6);
  TraceOptions exact;
  exact.products = op->dim();
  EXPECT_NEAR(trace(*op, exact).value, ggn.trace().item<double>(), 1e-9);
}

TEST_F(DataSetOperatorTest, TellsHowFarItIs) {
  std::vector<std::vector<int64_t>> told;
  DataSetOptions options;
  options.on_batch = [&told](const DataSetProgress& now) {
    told.push_back({now.product, now.batches, now.of});
  };
  const auto op = data_set_operator(2, source(4), CurvatureKind::kGgn, options);
  static_cast<void>(op->multiply(random({1, op->dim()})));
  static_cast<void>(op->multiply(random({1, op->dim()})));
  EXPECT_EQ(told, (std::vector<std::vector<int64_t>>{{0, 1, 2}, {0, 2, 2}, {1, 1, 2}, {1, 2, 2}}));
}

// Ends after so many batches, as a process does that is killed.
struct Ended : std::runtime_error {
  Ended() : std::runtime_error("ended") {}
};

TEST_F(DataSetOperatorTest, GoesOnWhereItEnded) {
  EigenOptions search;
  search.largest = 2;
  const auto plain = data_set_operator(batches(3), source(3), CurvatureKind::kHessian);
  const Eigenpairs expected = eigenpairs(*plain, search);
  const std::string kept = folder();
  DataSetOptions options;
  options.folder = kept;
  options.keep_every = 1;
  int64_t ends = 0, left = 0;
  options.on_batch = [&left](const DataSetProgress&) {
    if (--left == 0) throw Ended();
  };
  while (true) {
    left = 5;  // a product has four batches
    try {
      const auto op = data_set_operator(batches(3), source(3), CurvatureKind::kHessian, options);
      const Eigenpairs pairs = eigenpairs(*op, search);
      EXPECT_TRUE(identical(pairs.values, expected.values));
      EXPECT_TRUE(identical(pairs.vectors, expected.vectors));
      break;
    } catch (const Ended&) {
      ASSERT_LT(++ends, 500) << "no progress from one start to the next";
    }
  }
  EXPECT_GT(ends, 2);
  // Everything is there: the whole answer costs the forward pass that asks for the parameters.
  options.on_batch = nullptr;
  forward_passes_ = 0;
  const auto op = data_set_operator(batches(3), source(3), CurvatureKind::kHessian, options);
  EXPECT_TRUE(identical(eigenpairs(*op, search).values, expected.values));
  EXPECT_EQ(forward_passes_, 1);
  fs::remove_all(kept);
}

// ---- split over ranks ---------------------------------------------------------------------------

// The answer of every rank, or what it threw.
struct OfRanks {
  std::vector<Tensor> values;
  std::vector<std::string> errors;
};

using Ask = std::function<Tensor(const LinearOperator& op, int64_t rank)>;

OfRanks on_ranks(int64_t W,
                 int64_t batches,
                 const BatchSource& source,
                 const std::function<DataSetOptions(int64_t rank)>& options_of,
                 const Ask& ask) {
  OfRanks all{std::vector<Tensor>(W), std::vector<std::string>(W)};
  const auto ranks = ranks_in_threads(W, std::chrono::seconds(30));
  std::vector<std::thread> threads;
  for (int64_t rank = 0; rank < W; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        DataSetOptions options = options_of(rank);
        options.ranks = ranks[rank];
        const auto op = data_set_operator(batches, source, CurvatureKind::kHessian, options);
        all.values[rank] = ask(*op, rank);
      } catch (const std::exception& error) {
        all.errors[rank] = error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return all;
}

TEST_F(DataSetOperatorTest, IsTheSameMatrixHoweverManyRanksShareTheBatches) {
  const Tensor matrix = dense().hessian(), vectors = random({3, matrix.size(0)});
  for (const int64_t size : {3, 4, 11}) {  // of 11 samples: uneven, and fewer batches than ranks
    for (const int64_t W : {1, 2, 3, 5}) {
      const OfRanks all = on_ranks(
          W,
          batches(size),
          quiet_source(size),
          [](int64_t) { return DataSetOptions(); },
          [&](const LinearOperator& op, int64_t) { return op.multiply(vectors); });
      for (int64_t rank = 0; rank < W; ++rank) {
        ASSERT_EQ(all.errors[rank], "");
        expect_close(all.values[rank], vectors.matmul(matrix), "products", kCurvatureTolerance);
        EXPECT_TRUE(identical(all.values[rank], all.values[0]));
      }
    }
  }
}

TEST_F(DataSetOperatorTest, ThrowsOnAllRanksWhatFailsOnOne) {
  const Tensor vectors = random({1, dense().hessian().size(0)});
  const auto breaks = [&](int64_t k) {
    TORCH_CHECK(k != 1, "the disk of batch 1 is gone");
    return quiet_source(3)(k);
  };
  const OfRanks all = on_ranks(
      3,
      batches(3),
      breaks,
      [](int64_t) { return DataSetOptions(); },
      [&](const LinearOperator& op, int64_t) { return op.multiply(vectors); });
  EXPECT_NE(all.errors[1].find("the disk of batch 1 is gone"), std::string::npos);
  for (const int64_t rank : {0, 2}) {
    EXPECT_NE(all.errors[rank].find("failed on 1 of 3 ranks"), std::string::npos);
  }
}

// Ended in the middle of its third product, then begun again by more and by fewer.
TEST_F(DataSetOperatorTest, GoesOnWithAnotherNumberOfRanks) {
  EigenOptions search;
  search.largest = 2;
  const auto ask = [&](const LinearOperator& op, int64_t) { return eigenpairs(op, search).values; };
  const Tensor expected =
      ask(*data_set_operator(batches(3), quiet_source(3), CurvatureKind::kHessian), 0);
  DataSetOptions kept;
  kept.folder = folder();
  kept.keep_every = 1;
  std::vector<int64_t> first_products;
  for (const int64_t W : {2, 3, 2, 1}) {
    std::vector<int64_t> begun(W, -1);
    const bool is_ended = first_products.size() < 3;
    const OfRanks all = on_ranks(
        W,
        batches(3),
        quiet_source(3),
        [&](int64_t rank) {
          DataSetOptions options = kept;
          options.on_batch = [&, rank](const DataSetProgress& now) {
            if (begun[rank] < 0) begun[rank] = now.product;
            if (is_ended && rank == 0 && now.product == begun[0] + 2) throw Ended();
          };
          return options;
        },
        ask);
    first_products.push_back(begun[0]);
    for (int64_t rank = 0; rank < W; ++rank) {
      EXPECT_EQ(all.errors[rank].empty(), !is_ended) << all.errors[rank];
      if (!is_ended) expect_close(all.values[rank], expected, "eigenvalues", 1e-9);
    }
  }
  EXPECT_EQ(first_products, std::vector<int64_t>({0, 2, 4, 6}));
  // Everything is there.
  const OfRanks again = on_ranks(
      2,
      batches(3),
      quiet_source(3),
      [&](int64_t) {
        DataSetOptions options = kept;
        options.on_batch = [](const DataSetProgress&) { throw Ended(); };
        return options;
      },
      ask);
  EXPECT_EQ(again.errors, std::vector<std::string>(2));
  expect_close(again.values[1], expected, "eigenvalues", 1e-9);
  fs::remove_all(kept.folder);
}

TEST_F(DataSetOperatorTest, TakesUpTheSumWithinAProductOfAsManyRanks) {
  const Tensor matrix = dense().hessian(), vectors = random({2, matrix.size(0)});
  DataSetOptions kept;
  kept.folder = folder();
  kept.keep_every = 1;
  const auto batches_done = [&](int64_t W, bool is_ended) {
    std::vector<int64_t> done(W, 0);
    const OfRanks all = on_ranks(
        W,
        batches(2),  // 6
        quiet_source(2),
        [&](int64_t rank) {
          DataSetOptions options = kept;
          options.on_batch = [&, rank](const DataSetProgress& now) {
            ++done[rank];
            EXPECT_EQ(now.of, 6 / W);
            if (is_ended && now.batches == now.of - 1) throw Ended();
          };
          return options;
        },
        [&](const LinearOperator& op, int64_t) { return op.multiply(vectors); });
    for (int64_t rank = 0; rank < W && !is_ended; ++rank) {
      expect_close(all.values[rank], vectors.matmul(matrix), "products", kCurvatureTolerance);
    }
    return done;
  };
  EXPECT_EQ(batches_done(2, true), std::vector<int64_t>({2, 2}));
  EXPECT_EQ(batches_done(3, true), std::vector<int64_t>({1, 1, 1}));  // from the beginning
  EXPECT_EQ(batches_done(2, false), std::vector<int64_t>({1, 1}));    // what is left
  fs::remove_all(kept.folder);
}

TEST_F(DataSetOperatorTest, RefusesTheFolderOfOtherParametersOnAllRanks) {
  DataSetOptions kept;
  kept.folder = folder();
  static_cast<void>(data_set_operator(2, source(4), CurvatureKind::kGgn, kept));
  const Tensor vectors = random({1, dense().hessian().size(0)});
  const OfRanks all = on_ranks(
      2,
      2,
      quiet_source(4),
      [&](int64_t) { return kept; },
      [&](const LinearOperator& op, int64_t) { return op.multiply(vectors); });
  EXPECT_NE(all.errors[0].find("another matrix"), std::string::npos);
  EXPECT_NE(all.errors[1].find("failed on 1 of 2 ranks"), std::string::npos);
  fs::remove_all(kept.folder);
}

TEST_F(DataSetOperatorTest, ComputesAgainWhatIsCutOffOrOfOtherVectors) {
  DataSetOptions options;
  options.folder = folder();
  const Tensor vectors = random({1, 4 * 5 + 5 + 5 * 3 + 3});
  const auto made = [&] {
    return data_set_operator(batches(4), source(4), CurvatureKind::kGgn, options);
  };
  const Tensor expected = made()->multiply(vectors);
  const std::string file = options.folder + "/product_000000";
  ASSERT_TRUE(fs::exists(file));
  expect_close(made()->multiply(2 * vectors), 2 * expected, "of other vectors");
  fs::resize_file(file, fs::file_size(file) - 1);
  EXPECT_TRUE(identical(made()->multiply(vectors), expected));
  std::ofstream(file) << "nothing of ours";
  EXPECT_TRUE(identical(made()->multiply(vectors), expected));
  fs::remove_all(options.folder);
}

TEST_F(DataSetOperatorTest, RefusesTheFolderOfOtherParameters) {
  DataSetOptions options;
  options.folder = folder();
  static_cast<void>(data_set_operator(2, source(4), CurvatureKind::kGgn, options));
  expect_error([&] { return data_set_operator(2, source(4), CurvatureKind::kHessian, options); },
               {"another matrix", "kind", "another folder"});
  {
    const at::NoGradGuard guard;
    parameters_[0].tensor.add_(1e-9);
  }
  expect_error([&] { return data_set_operator(2, source(4), CurvatureKind::kGgn, options); },
               {options.folder, "another matrix"});
  fs::remove_all(options.folder);
}

TEST_F(DataSetOperatorTest, NamesABatchThatIsNotTheOneBefore) {
  int64_t size = 4;
  const auto op = data_set_operator(
      2, [&](int64_t k) { return source(k == 1 ? size : 4)(k); }, CurvatureKind::kGgn);
  const Tensor vectors = random({1, op->dim()});
  static_cast<void>(op->multiply(vectors));
  size = 3;
  expect_error([&] { return op->multiply(vectors); }, {"batch 1", "3", "4", "same samples"});
  const auto fewer = [this](int64_t k) {
    const Tensor losses = losses_of(net_->forward(inputs_), 0, kSamples);
    return k == 0 ? Batch(losses, parameters_)
                  : Batch(losses, std::vector<NamedParameter>{parameters_[0]});
  };
  expect_error([&] { return data_set_operator(2, fewer, CurvatureKind::kGgn)->multiply(vectors); },
               {"batch 1", "1 parameters", "4 of batch 0"});
  expect_error([&] { return data_set_operator(0, fewer, CurvatureKind::kGgn); }, {"0 batches"});
  expect_error([&] { return op->multiply(vectors.slice(1, 1)); }, {"D = "});
}

}  // namespace
}  // namespace flightdeck::tests
