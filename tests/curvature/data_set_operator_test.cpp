// SPDX-License-Identifier: MIT
// Matrices of a data set that is streamed batch by batch, against those of one batch of everything
// and against dense matrices.
#include <filesystem>
#include <fstream>

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
