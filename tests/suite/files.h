// SPDX-License-Identifier: MIT
// Small data files in the published formats, written by the tests that read them.
#pragma once

#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <gtest/gtest.h>

namespace flightdeck::suite {

// A fixture with an empty folder of its own.
class FilesTest : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  void write(const std::string& name, const std::string& bytes) const;
  // Cuts bytes off the end.
  void shorten(const std::string& name, int64_t count) const;

  std::string folder_;
};

// The bytes of an IDX file; `values` uint8.
std::string idx_file(const at::Tensor& values);
// All bytes compressed as gzip does.
std::string gzip(const std::string& bytes);

struct MatArray {
  std::string name;
  std::vector<int32_t> sizes;  // as MATLAB writes them, the fastest first
  std::string bytes;
  uint32_t type = 2;  // of the stored values; 2: unsigned bytes
};
// The bytes of a MATLAB file of level 5.
std::string mat5_file(const std::vector<MatArray>& arrays, bool is_compressed);

}  // namespace flightdeck::suite
