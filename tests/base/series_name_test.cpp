// SPDX-License-Identifier: MIT
#include "base/series_name.h"

#include <gtest/gtest.h>

namespace flightdeck {
namespace {

TEST(SeriesName, LeavesOutWhatIsEmpty) {
  EXPECT_EQ(series_name("loss", ""), "loss");
  EXPECT_EQ(series_name("alpha", "step"), "alpha/step");
  EXPECT_EQ(series_name("grad_norm", "", "conv1.weight"), "grad_norm@conv1.weight");
  EXPECT_EQ(series_name("alpha", "step", "conv1.weight"), "alpha/step@conv1.weight");
}

}  // namespace
}  // namespace flightdeck
