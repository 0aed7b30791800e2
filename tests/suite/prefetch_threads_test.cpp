// SPDX-License-Identifier: MIT
// The prefetcher's two threads, without the data sets of the suite: for the thread sanitizer.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "suite/prefetch.h"

namespace flightdeck::suite {
namespace {

DataSet large_samples() {
  DataSet data;
  data.name = "made";
  data.train.inputs = torch::arange(64 * 20000, torch::kFloat).view({64, 20000});
  data.train.targets = torch::arange(64);
  data.prepare = [](const Tensor& stored) { return stored; };
  return data;
}

Batches batches_of(const DataSet& data) {
  BatchOptions options;
  options.batch_size = 8;
  return Batches(data, Part::kTrain, options);
}

TEST(PrefetchThreads, HandOverEveryBatchOfEveryEpoch) {
  const DataSet data = large_samples();
  Batches plain = batches_of(data);
  Prefetch ahead(batches_of(data));
  for (int64_t epoch = 0; epoch < 3; ++epoch) {
    ahead.start_epoch(epoch);
    plain.start_epoch(epoch);
    for (int64_t k = 0; k < plain.per_epoch(); ++k) {
      EXPECT_TRUE(torch::equal(ahead.next().inputs, plain.next().inputs));
    }
  }
}

TEST(PrefetchThreads, EndWhileABatchIsPrepared) {
  const DataSet data = large_samples();
  for (int k = 0; k < 20; ++k) {
    Prefetch ahead(batches_of(data));
    ahead.next();
  }
}

TEST(PrefetchThreads, HandOverErrors) {
  DataSet data = large_samples();
  int calls = 0;  // read by the other thread alone until `next` has returned
  data.prepare = [&calls](const Tensor& stored) {
    TORCH_CHECK(++calls != 3, "the third batch is broken");
    return stored;
  };
  Prefetch ahead(batches_of(data));
  ahead.next();
  ahead.next();
  EXPECT_THROW(ahead.next(), c10::Error);
  EXPECT_EQ(ahead.next().inputs.size(0), 8);
}

}  // namespace
}  // namespace flightdeck::suite
