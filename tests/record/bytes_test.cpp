// SPDX-License-Identifier: MIT
#include "record/bytes.h"

#include <gtest/gtest.h>

#include "record/blobs.h"
#include "record/checksum.h"
#include "record/entry.h"
#include "tests/record/made_steps.h"
#include "tests/record/runs.h"

namespace flightdeck::record {
namespace {

TEST(Checksums, AgreeWithPublishedValues) {
  EXPECT_EQ(crc32("123456789"), 0xcbf43926u);
  EXPECT_EQ(crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(crc32(""), 0u);
  // RFC 3720, appendix B.4.
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(crc32c(std::string(32, '\xff')), 0x62a8ab43u);
}

TEST(Bytes, VarintsSurviveAtTheirLimits) {
  for (const uint64_t value : {uint64_t{0}, uint64_t{127}, uint64_t{128}, ~uint64_t{0}}) {
    std::string bytes;
    put_varint(bytes, value);
    ByteReader reader(bytes);
    EXPECT_EQ(reader.varint(), value);
    EXPECT_TRUE(reader.is_empty());
  }
}

TEST(Bytes, NumbersAreLittleEndian) {
  std::string bytes;
  put_u32(bytes, 0x04030201);
  put_double(bytes, 1.0);
  EXPECT_EQ(bytes, std::string("\x01\x02\x03\x04\0\0\0\0\0\0\xf0\x3f", 12));
}

TEST(Bytes, EndingTooEarlyAreRefused) {
  EXPECT_THROW(ByteReader("abc").u32(), std::runtime_error);
  EXPECT_THROW(ByteReader("\x05"
                          "abc")
                   .string(),
               std::runtime_error);
  EXPECT_THROW(ByteReader(std::string(11, '\xff')).varint(), std::runtime_error);
}

TEST(Blobs, AnEmptyHistogramOfTwoAxesIsSmall) {
  Reading reading;
  reading.kind = ReadingKind::kHistogram;
  reading.axes = {{-1, 1, 40}, {-2, 2, 50}};
  reading.counts.assign(40 * 50, 0);
  EXPECT_LT(histogram_blob(reading).size(), 64u);
  for (size_t i = 0; i < reading.counts.size(); i += 9) reading.counts[i] = 100;
  EXPECT_LT(histogram_blob(reading).size(), 800u);
}

TEST(Blobs, OfDamagedHistogramsAreRefused) {
  const std::string blob = histogram_blob(tests::make_step(30).readings[3]);
  for (size_t size = 0; size < blob.size(); ++size) {
    Reading reading;
    EXPECT_THROW(read_histogram_blob(blob.substr(0, size), reading), std::runtime_error) << size;
  }
}

TEST(Entries, SurviveTheRoundTrip) {
  std::string payload;
  put_entry(payload, tests::make_step(42));
  const auto step = std::get<StepReadings>(read_entry(payload));
  EXPECT_EQ(step.step, 42);
  EXPECT_EQ(step.time, tests::make_step(42).time);
  ASSERT_EQ(step.readings.size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_TRUE(tests::equal(step.readings[i], tests::make_step(42).readings[i])) << i;
  }
}

TEST(Entries, OfUnknownKindOrNoLengthAreRefused) {
  EXPECT_THROW(read_entry(""), std::runtime_error);
  EXPECT_THROW(read_entry("\x63"), std::runtime_error);
}

}  // namespace
}  // namespace flightdeck::record
