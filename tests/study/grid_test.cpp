// SPDX-License-Identifier: MIT
#include "study/grid.h"

#include <stdexcept>

#include <gtest/gtest.h>

namespace flightdeck::study {
namespace {

TEST(GridAxis, HasLogarithmicallySpacedValuesWithBothEnds) {
  const GridAxis axis = grid_axis("learning_rate=1e-5:1e2:36");
  EXPECT_EQ(axis.name, "learning_rate");
  ASSERT_EQ(axis.values.size(), 36u);
  EXPECT_EQ(axis.values[0], 1e-5);
  EXPECT_EQ(axis.values[1], 1.58489e-5);
  EXPECT_EQ(axis.values[25], 1);
  EXPECT_EQ(axis.values[35], 100);
}

TEST(GridAxis, HasTheValuesOfAList) {
  EXPECT_EQ(grid_axis("momentum=0.9,0.99").values, (std::vector<double>{0.9, 0.99}));
  EXPECT_EQ(grid_axis("momentum=0.5").values, (std::vector<double>{0.5}));
}

TEST(GridAxis, SaysWhatIsWrongWithAText) {
  const auto why = [](const std::string& text) {
    try {
      grid_axis(text);
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  EXPECT_NE(why("0.1,0.2").find("no NAME="), std::string::npos);
  EXPECT_NE(why("a=0.1,x").find("'x' is no number"), std::string::npos);
  EXPECT_NE(why("a=").find("'' is no number"), std::string::npos);
  EXPECT_NE(why("a=1:2").find("2 parts"), std::string::npos);
  EXPECT_NE(why("a=0:2:3").find("0 < LOW < HIGH"), std::string::npos);
  EXPECT_NE(why("a=1:2:1").find("COUNT"), std::string::npos);
  EXPECT_NE(why("a=1:2:2.5").find("COUNT"), std::string::npos);
  EXPECT_NE(why("a=1,1").find("twice"), std::string::npos);
  EXPECT_NE(why("a=1,1").find("for example learning_rate=1e-5:1e2:36"), std::string::npos);
}

TEST(GridPoints, AreAllCombinations) {
  const std::vector<Values> points = grid_points({{"a", {1, 2}}, {"b", {3, 4, 5}}});
  ASSERT_EQ(points.size(), 6u);
  EXPECT_EQ(points[0], (Values{{"a", 1}, {"b", 3}}));
  EXPECT_EQ(points[1], (Values{{"a", 1}, {"b", 4}}));
  EXPECT_EQ(points[5], (Values{{"a", 2}, {"b", 5}}));
}

}  // namespace
}  // namespace flightdeck::study
