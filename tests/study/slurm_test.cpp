// SPDX-License-Identifier: MIT
// What can be told without Slurm; slurm_test.py has the rest.
#include "study/slurm.h"

#include <gtest/gtest.h>

namespace flightdeck::study {
namespace {

TEST(JobArrays, NameStretchesAndGaps) {
  const std::vector<JobArray> arrays = job_arrays({3, 4, 5, 7, 9, 10}, 1000);
  ASSERT_EQ(arrays.size(), 1u);
  EXPECT_EQ(arrays[0].offset, 3);
  EXPECT_EQ(arrays[0].indices, "0-2,4,6-7");
  EXPECT_EQ(arrays[0].count, 6u);
}

TEST(JobArrays, AreSeveralWhereOneWouldBeTooLong) {
  const std::vector<JobArray> arrays = job_arrays({0, 1, 2, 3, 4, 5, 6, 20, 24, 25}, 5);
  ASSERT_EQ(arrays.size(), 4u);
  EXPECT_EQ(arrays[0].indices, "0-4");
  EXPECT_EQ(arrays[1].offset, 5);
  EXPECT_EQ(arrays[1].indices, "0-1");
  EXPECT_EQ(arrays[2].offset, 20);
  EXPECT_EQ(arrays[2].indices, "0,4");
  EXPECT_EQ(arrays[3].offset, 25);
  EXPECT_EQ(arrays[3].indices, "0");
  EXPECT_EQ(arrays[3].count, 1u);
}

TEST(JobArrays, OfNothingAreNone) { EXPECT_TRUE(job_arrays({}, 5).empty()); }

TEST(ArrayLimit, IsTheConfiguredOne) {
  EXPECT_EQ(array_limit("LaunchParameters = (null)\nMaxArraySize            = 1001\n"), 1001);
  EXPECT_EQ(array_limit("nothing"), 1000);
}

}  // namespace
}  // namespace flightdeck::study
