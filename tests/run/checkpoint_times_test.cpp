// SPDX-License-Identifier: MIT
#include "run/checkpoint_times.h"

#include <gtest/gtest.h>

namespace flightdeck::run {
namespace {

TEST(CheckpointTimes, AreWithinTheFirstMinuteHoweverLongAnEpochIs) {
  EXPECT_TRUE(is_checkpoint_time(/*ends_epoch=*/false, 60));
  EXPECT_FALSE(is_checkpoint_time(/*ends_epoch=*/false, 31));
}

TEST(CheckpointTimes, PreferTheEndOfAnEpoch) {
  EXPECT_TRUE(is_checkpoint_time(/*ends_epoch=*/true, 31));
  EXPECT_FALSE(is_checkpoint_time(/*ends_epoch=*/true, 1));
}

}  // namespace
}  // namespace flightdeck::run
