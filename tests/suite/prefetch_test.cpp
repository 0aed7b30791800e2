// SPDX-License-Identifier: MIT
#include "suite/prefetch.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "errors.h"

namespace flightdeck::suite {
namespace {

DataSet synthetic(const std::string& name, int64_t limit) {
  DataOptions options;
  options.synthetic = true;
  options.limit = limit;
  return load_data(name, options);
}

Batches batches_of(const DataSet& data) {
  BatchOptions options;
  options.batch_size = 8;
  return Batches(data, Part::kTrain, options);
}

void expect_same(const Batch& one, const Batch& other) {
  EXPECT_TRUE(torch::equal(one.inputs, other.inputs));
  EXPECT_TRUE(torch::equal(one.targets, other.targets));
  EXPECT_TRUE(torch::equal(one.indices, other.indices));
}

TEST(Prefetch, GivesTheSameBatchesInTheSameOrder) {
  const DataSet data = synthetic("cifar10", 50);  // augmented
  Batches plain = batches_of(data);
  Prefetch ahead(batches_of(data));
  ASSERT_EQ(ahead.per_epoch(), plain.per_epoch());
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(ahead.epoch(), plain.epoch());
    EXPECT_EQ(ahead.position(), plain.position());
    expect_same(ahead.next(), plain.next());
  }
}

TEST(Prefetch, StartsAnyEpoch) {
  const DataSet data = synthetic("cifar10", 50);
  Batches plain = batches_of(data);
  Prefetch ahead(batches_of(data));
  for (const int64_t epoch : {0, 3, 3, 1}) {
    ahead.start_epoch(epoch);
    plain.start_epoch(epoch);
    EXPECT_EQ(ahead.epoch(), epoch);
    EXPECT_EQ(ahead.position(), 0);
    for (int i = 0; i < 2; ++i) expect_same(ahead.next(), plain.next());
  }
}

TEST(Prefetch, ThrowsToTheCallerAndTriesAgain) {
  DataSet data = synthetic("mnist", 50);
  const auto prepare = data.prepare;
  int calls = 0;  // read by the other thread alone until `next` has returned
  data.prepare = [&calls, prepare](const Tensor& stored) {
    TORCH_CHECK(++calls != 2, "data: the second batch is broken");
    return prepare(stored);
  };
  Prefetch ahead(batches_of(data));
  EXPECT_EQ(ahead.next().inputs.size(0), 8);
  tests::expect_mentions(tests::error_of([&] { ahead.next(); }), {"second batch is broken"});
  EXPECT_EQ(ahead.position(), 1);
  EXPECT_EQ(ahead.next().inputs.size(0), 8);
  EXPECT_EQ(ahead.position(), 2);
}

TEST(Prefetch, EndsWhileABatchIsPrepared) {
  const DataSet data = synthetic("mnist", 50);
  for (int i = 0; i < 20; ++i) Prefetch(batches_of(data));
}

TEST(Prefetch, LeavesTheCallersThreadsAlone) {
  const int threads = at::get_num_threads();
  const DataSet data = synthetic("mnist", 50);
  Prefetch ahead(batches_of(data));
  ahead.next();
  EXPECT_EQ(at::get_num_threads(), threads);
}

}  // namespace
}  // namespace flightdeck::suite
