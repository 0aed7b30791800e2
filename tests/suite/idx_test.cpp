// SPDX-License-Identifier: MIT
#include "suite/data/idx.h"

#include <cstdio>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace flightdeck::suite {
namespace {

class Idx : public ::testing::Test {
 protected:
  void TearDown() override { std::remove(path_.c_str()); }
  void write(const std::string& bytes) { std::ofstream(path_, std::ios::binary) << bytes; }
  std::string message() {
    try {
      read_idx(path_);
    } catch (const c10::Error& error) {
      return error.what_without_backtrace();
    }
    return "";
  }

  const std::string path_ = ::testing::TempDir() + "flightdeck_idx_test";
};

TEST_F(Idx, ReadsShapeAndValues) {
  write(std::string("\0\0\x08\x02\0\0\0\x02\0\0\0\x03", 12) + "\x01\x02\x03\x04\x05\xff");
  const at::Tensor expected =
      torch::tensor({1, 2, 3, 4, 5, 255}, torch::kInt).to(torch::kByte).view({2, 3});
  EXPECT_TRUE(torch::equal(read_idx(path_), expected));
}

TEST_F(Idx, RefusesAShortFile) {
  write(std::string("\0\0\x08\x01\0\0\0\x05", 8) + "abc");
  EXPECT_NE(message().find("ends 2 bytes before"), std::string::npos) << message();
}

TEST_F(Idx, RefusesAnotherFormat) {
  write("P5 28 28 255");
  EXPECT_NE(message().find("starts with 0 0 8"), std::string::npos) << message();
}

TEST_F(Idx, NamesAFileThatIsMissing) {
  EXPECT_NE(message().find(path_), std::string::npos) << message();
}

}  // namespace
}  // namespace flightdeck::suite
