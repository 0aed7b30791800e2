// SPDX-License-Identifier: MIT
#include "cli/bench/bench_report.h"

#include <gtest/gtest.h>

namespace flightdeck::cli {
namespace {

BenchLine measured_line() {
  BenchLine line;
  line.bench = "curvature";
  line.problem = "mnist_mlp";
  line.device = "cpu";
  line.batch = 8;
  line.threads = 2;
  line.blas = "some BLAS";
  line.quantity = "hvp";
  line.timing.plain_ms = 2;
  line.timing.ms = 5;
  line.timing.ratio = 2.5;
  return line;
}

const std::string kBefore =
    "{\"bench\":\"curvature\",\"problem\":\"mnist_mlp\",\"device\":\"cpu\",\"batch\":8,"
    "\"threads\":2,\"blas\":\"some BLAS\",\"quantity\":\"hvp\",";

TEST(BenchReport, WritesTheKeysInOrder) {
  BenchLine line = measured_line();
  line.timing.peak_mb = 1.5;
  EXPECT_EQ(json(line), kBefore + "\"plain_ms\":2,\"ms\":5,\"ratio\":2.5,\"peak_mb\":1.5}");
}

TEST(BenchReport, NamesProductsOnlyWhereTheyAreCounted) {
  BenchLine line = measured_line();
  EXPECT_EQ(json(line).find("products"), std::string::npos);
  EXPECT_EQ(table_row(line).find("products"), std::string::npos);
  line.timing.products = 12;
  EXPECT_NE(json(line).find("\"peak_mb\":null,\"products\":12}"), std::string::npos);
  EXPECT_NE(table_row(line).find("12 products"), std::string::npos);
}

TEST(BenchReport, GivesTheReasonInPlaceOfTheNumbers) {
  BenchLine line = measured_line();
  line.timing.products = 12;
  line.error = "not enough memory";
  EXPECT_EQ(json(line),
            kBefore +
                "\"plain_ms\":null,\"ms\":null,\"ratio\":null,\"peak_mb\":null,"
                "\"error\":\"not enough memory\"}");
  EXPECT_EQ(table_row(line), "  hvp                    failed: not enough memory");
}

}  // namespace
}  // namespace flightdeck::cli
