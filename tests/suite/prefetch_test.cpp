// SPDX-License-Identifier: MIT
#include "suite/prefetch.h"

#include <atomic>
#include <chrono>
#include <thread>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "errors.h"
#include "tests/suite/data.h"

namespace flightdeck::suite {
namespace {

// Batches of eight images are small in grey and large in colour: either way of preparing them.
Batches train_batches(const DataSet& data, int64_t batch_size = 8) {
  BatchOptions options;
  options.batch_size = batch_size;
  return Batches(data, Part::kTrain, options);
}

void expect_same(const Batch& one, const Batch& other) {
  EXPECT_TRUE(torch::equal(one.inputs, other.inputs));
  EXPECT_TRUE(torch::equal(one.targets, other.targets));
  EXPECT_TRUE(torch::equal(one.indices, other.indices));
}

TEST(Prefetch, GivesTheSameBatchesInTheSameOrder) {
  for (const std::string name : {"cifar10", "mnist"}) {  // the first is augmented
    const DataSet data = synthetic(name, 50);
    Batches plain = train_batches(data);
    Prefetch ahead(train_batches(data));
    ASSERT_EQ(ahead.per_epoch(), plain.per_epoch());
    for (int i = 0; i < 20; ++i) {
      EXPECT_EQ(ahead.epoch(), plain.epoch());
      EXPECT_EQ(ahead.position(), plain.position());
      expect_same(ahead.next(), plain.next());
    }
  }
}

TEST(Prefetch, StartsAnyEpoch) {
  for (const std::string name : {"cifar10", "mnist"}) {
    const DataSet data = synthetic(name, 50);
    Batches plain = train_batches(data);
    Prefetch ahead(train_batches(data));
    for (const int64_t epoch : {0, 3, 3, 1}) {
      ahead.start_epoch(epoch);
      plain.start_epoch(epoch);
      EXPECT_EQ(ahead.epoch(), epoch);
      EXPECT_EQ(ahead.position(), 0);
      for (int i = 0; i < 2; ++i) expect_same(ahead.next(), plain.next());
    }
  }
}

TEST(Prefetch, ThrowsToTheCallerAndTriesAgain) {
  for (const int64_t batch_size : {8, 40}) {
    DataSet data = synthetic("mnist", 200);
    const auto prepare = data.prepare;
    int calls = 0;  // read by the other thread alone until `next` has returned
    data.prepare = [&calls, prepare](const Tensor& stored) {
      TORCH_CHECK(++calls != 2, "data: the second batch is broken");
      return prepare(stored);
    };
    Prefetch ahead(train_batches(data, batch_size));
    EXPECT_EQ(ahead.next().inputs.size(0), batch_size);
    tests::expect_mentions(tests::error_of([&] { ahead.next(); }), {"second batch is broken"});
    EXPECT_EQ(ahead.position(), 1);
    EXPECT_EQ(ahead.next().inputs.size(0), batch_size);
    EXPECT_EQ(ahead.position(), 2);
  }
}

TEST(Prefetch, EndsWhileABatchIsPrepared) {
  std::atomic<int> begun{0}, ended{0};
  DataSet data = synthetic("mnist", 50);
  const auto prepare = data.prepare;
  data.prepare = [&](const Tensor& stored) {
    ++begun;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const Tensor prepared = prepare(stored);
    ++ended;
    return prepared;
  };
  for (const bool is_busy : {false, true, false, true, true}) {
    const int before = ended;
    {
      Prefetch ahead(train_batches(data, 40));  // prepares the first by itself
      if (is_busy) {
        ahead.next();
        while (begun < before + 2) std::this_thread::yield();
      }
    }
    EXPECT_EQ(ended.load(), before + (is_busy ? 2 : 1));
    EXPECT_EQ(begun.load(), ended.load());
  }
}

TEST(Prefetch, LeavesTheCallersThreadsAlone) {
  const int threads = at::get_num_threads();
  const DataSet data = synthetic("mnist", 50);
  Prefetch ahead(train_batches(data, 40));
  ahead.next();
  EXPECT_EQ(at::get_num_threads(), threads);
}

}  // namespace
}  // namespace flightdeck::suite
