// SPDX-License-Identifier: MIT
// The sweep of every instruction set against the definition.
#include "kernels/entry_sums/entry_sums.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/patch_products/patch_products.h"

namespace flightdeck::kernels {
namespace {

const int64_t kSweptSizes[] = {0, 1, 3, 7, 8, 15, 16, 17, 63, 2047, 2048, 2049, 5001};
constexpr double kTiny = 1e-3, kHuge = 50;

// What this processor can run.
std::vector<std::string> instruction_sets() {
  const std::string best(patch_products_isa());
  if (best == "avx512" || best == "avx2") return {"reference", "baseline", "avx2"};
  return {"reference", "baseline"};
}

template <typename Stored>
Stored stored(double value) {
  return static_cast<Stored>(value);
}
template <>
Bfloat16 stored<Bfloat16>(double value) {
  const auto rounded = static_cast<float>(value);
  uint32_t bits = 0;
  std::memcpy(&bits, &rounded, sizeof bits);
  return {static_cast<uint16_t>(bits >> 16U)};
}

double number_of(double x) { return x; }
double number_of(Bfloat16 x) {
  const uint32_t bits = uint32_t{x.bits} << 16U;
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

template <typename Stored>
class EntrySumsOf : public testing::Test {
 protected:
  // One number more than asked for: tests begin at an unaligned address.
  std::vector<Stored> draw(int64_t size, bool is_finite) {
    std::normal_distribution<double> normal(0.3, 1);
    std::vector<Stored> values(size + 1);
    for (Stored& value : values) {
      const unsigned kind = random_() % 16;
      double x = normal(random_);
      if (kind == 1) x = 0;
      if (kind == 2) x *= 1e-5;
      if (kind == 3) x *= 1e4;
      if (kind == 4) x = -0.0;
      if (kind == 5 && !is_finite) x = std::numeric_limits<double>::infinity();
      if (kind == 6 && !is_finite) x = -std::numeric_limits<double>::infinity();
      if (kind == 7 && !is_finite) x = std::numeric_limits<double>::quiet_NaN();
      value = stored<Stored>(x);
    }
    return values;
  }

  std::minstd_rand random_{1};
};

using StoredTypes = testing::Types<float, double, Bfloat16>;
TYPED_TEST_SUITE(EntrySumsOf, StoredTypes);

TYPED_TEST(EntrySumsOf, CountAndBoundByTheDefinition) {
  for (const std::string& isa : instruction_sets()) {
    for (const int64_t size : kSweptSizes) {
      SCOPED_TRACE(isa + " " + std::to_string(size));
      const auto values = this->draw(size, /*is_finite=*/false);
      double bad = 0, zeros = 0, tiny = 0, huge = 0;
      double low = std::numeric_limits<double>::infinity(), high = -low;
      for (int64_t k = 1; k <= size; ++k) {
        const double x = number_of(values[k]);
        bad += !std::isfinite(x);
        zeros += x == 0;
        tiny += x != 0 && std::abs(x) < kTiny;
        huge += std::isfinite(x) && std::abs(x) > kHuge;
        if (std::isfinite(x)) low = std::min(low, x);
        if (std::isfinite(x)) high = std::max(high, x);
      }
      EntrySums sums;
      add_entries<TypeParam>(isa)(values.data() + 1, size, kTiny, kHuge, sums);
      EXPECT_EQ(sums.not_finite, bad);
      EXPECT_EQ(sums.zeros, zeros);
      EXPECT_EQ(sums.tiny, tiny);
      EXPECT_EQ(sums.huge, huge);
      EXPECT_EQ(sums.low, low);
      EXPECT_EQ(sums.high, high);
    }
  }
}

TYPED_TEST(EntrySumsOf, AddPowersInDouble) {
  for (const std::string& isa : instruction_sets()) {
    for (const int64_t size : kSweptSizes) {
      SCOPED_TRACE(isa + " " + std::to_string(size));
      const auto values = this->draw(size, /*is_finite=*/true);
      long double powers[4] = {}, sizes[4] = {};
      for (int64_t k = 1; k <= size; ++k) {
        long double power = 1;
        for (int p = 0; p < 4; ++p) {
          power *= number_of(values[k]);
          powers[p] += power;
          sizes[p] += std::fabs(power);
        }
      }
      EntrySums sums;
      add_entries<TypeParam>(isa)(values.data() + 1, size, 0, kHuge, sums);
      const double found[4] = {sums.sum, sums.squares, sums.cubes, sums.fourths};
      for (int p = 0; p < 4; ++p) {
        // Roundings in double of at most 5001 additions.
        EXPECT_NEAR(found[p], double(powers[p]), 1e-12 * double(sizes[p])) << "power " << p + 1;
      }
      EXPECT_EQ(sums.tiny, 0) << "without a bound nothing is tiny";
    }
  }
}

TYPED_TEST(EntrySumsOf, GoOnFromWhatTheyHold) {
  const auto values = this->draw(4100, /*is_finite=*/false);
  for (const std::string& isa : instruction_sets()) {
    SCOPED_TRACE(isa);
    EntrySums whole, parts;
    const auto add = add_entries<TypeParam>(isa);
    add(values.data(), 4100, kTiny, kHuge, whole);
    add(values.data(), 33, kTiny, kHuge, parts);
    add(values.data() + 33, 4067, kTiny, kHuge, parts);
    EXPECT_EQ(parts.not_finite, whole.not_finite);
    EXPECT_EQ(parts.zeros, whole.zeros);
    EXPECT_EQ(parts.tiny, whole.tiny);
    EXPECT_EQ(parts.huge, whole.huge);
    EXPECT_EQ(parts.low, whole.low);
    EXPECT_EQ(parts.high, whole.high);
  }
}

}  // namespace
}  // namespace flightdeck::kernels
