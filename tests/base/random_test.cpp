// SPDX-License-Identifier: MIT
#include "base/random.h"

#include <set>

#include <gtest/gtest.h>

namespace flightdeck {
namespace {

double first_share(uint64_t seed, const std::string& purpose) {
  Generator generator = generator_of(seed, purpose);
  return uniform(generator);
}

TEST(Random, IsUnrelatedForOtherSeedsAndPurposes) {
  std::set<uint64_t> drawn;
  for (const uint64_t seed : {0u, 1u, 2u}) {
    for (const uint64_t purpose : {0u, 1u, 2u}) drawn.insert(generator_of(seed, purpose)());
  }
  EXPECT_EQ(drawn.size(), 9);
}

TEST(Random, DrawsWholeNumbersBelowTheLimit) {
  Generator generator = generator_of(7, uint64_t{0});
  std::set<int64_t> drawn;
  for (int i = 0; i < 300; ++i) drawn.insert(uniform_integer(generator, 5));
  EXPECT_EQ(drawn, (std::set<int64_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(uniform_integer(generator, 1), 0);
}

TEST(Random, IsTheSameOnEveryMachine) {
  // Of a re-implementation of the engine in another language.
  Generator generator = generator_of(42, "adam");
  EXPECT_EQ(uniform(generator), 0.1674375238394642);
  EXPECT_EQ(uniform(generator), 0.5563720187773472);
  EXPECT_EQ(first_share(43, "adam"), 0.4061184315097316);
  EXPECT_EQ(first_share(42, "sgd"), 0.08943870494121398);
}

}  // namespace
}  // namespace flightdeck
