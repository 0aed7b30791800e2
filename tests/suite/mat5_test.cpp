// SPDX-License-Identifier: MIT
#include "suite/formats/mat5.h"

#include <sys/stat.h>

#include <torch/torch.h>

#include "errors.h"
#include "suite/files.h"

namespace flightdeck::suite {
namespace {

class Mat5 : public FilesTest {
 protected:
  std::string message(const std::string& variable) {
    return tests::error_of([&] { read_mat5(path("file.mat"), variable); });
  }

  const MatArray first_{"X", {2, 3}, "abcdef"};
  const MatArray second_{"labels", {3, 1}, "\x01\x02\x03"};  // stored within its tag
};

TEST_F(Mat5, ReadsPlainAndCompressedArrays) {
  for (const bool is_compressed : {false, true}) {
    write("file.mat", mat5_file({first_, second_}, is_compressed));
    const at::Tensor X = read_mat5(path("file.mat"), "X");
    ASSERT_EQ(X.sizes(), (std::vector<int64_t>{3, 2}));
    EXPECT_EQ(X[2][1].item<uint8_t>(), 'f');
    EXPECT_EQ(X[1][0].item<uint8_t>(), 'c');  // MATLAB's X(1, 2)
    const at::Tensor labels = read_mat5(path("file.mat"), "labels");
    EXPECT_TRUE(torch::equal(labels, torch::tensor({1, 2, 3}).to(torch::kByte).view({1, 3})));
  }
}

TEST_F(Mat5, ReadsArraysLongerThanItsBuffers) {
  std::string bytes(300000, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * i >> 5);
  write("file.mat", mat5_file({{"X", {1000, 300}, bytes}, second_}, true));
  const at::Tensor X = read_mat5(path("file.mat"), "X");
  EXPECT_EQ(std::string(static_cast<char*>(X.data_ptr()), 300000), bytes);
}

TEST_F(Mat5, RefusesATruncatedFile) {
  const std::string noise = [] {
    const at::Tensor values = torch::randint(256, {5000}).to(torch::kByte);
    return std::string(static_cast<char*>(values.data_ptr()), 5000);
  }();
  for (const bool is_compressed : {false, true}) {
    write("file.mat", mat5_file({{"X", {5000, 1}, noise}}, is_compressed));
    shorten("file.mat", 1000);
    tests::expect_mentions(message("X"), {path("file.mat"), "bytes too early", "again"});
  }
}

TEST_F(Mat5, RefusesDamagedData) {
  std::string bytes = mat5_file({first_}, true);
  bytes[140] = static_cast<char>(bytes[140] ^ 0x55);
  bytes[141] = static_cast<char>(bytes[141] ^ 0x55);
  write("file.mat", bytes);
  tests::expect_mentions(message("X"), {path("file.mat"), "again"});
}

TEST_F(Mat5, RefusesAnotherFormat) {
  write("file.mat", "P5 28 28 255");
  tests::expect_mentions(message("X"), {path("file.mat"), "level 5", "12 of the 128"});
}

TEST_F(Mat5, RefusesValuesThatAreNoBytes) {
  MatArray doubles{"X", {1, 1}, std::string(8, '\0'), /*type=*/9};
  write("file.mat", mat5_file({doubles}, true));
  tests::expect_mentions(message("X"), {"type 9", "type 2", path("file.mat")});
}

TEST_F(Mat5, RefusesSizesThatDoNotFitTheValues) {
  write("file.mat", mat5_file({{"X", {4, 4}, "abcdefghi"}}, false));
  tests::expect_mentions(message("X"), {"9 values", "[4, 4]"});
}

TEST_F(Mat5, RefusesMoreThanFourBytesWithinATag) {
  // The tag of the values is the last but the data: 9 bytes, said to be within the tag.
  std::string bytes = mat5_file({{"X", {9, 1}, "abcdefghi"}}, false);
  const std::string tag("\x02\0\0\0\x09\0\0\0", 8), small("\x02\0\x09\0abcd", 8);
  const size_t place = bytes.find(tag, 128);
  ASSERT_NE(place, std::string::npos);
  write("file.mat", bytes.replace(place, 8, small));
  tests::expect_mentions(message("X"), {"9 values", "the 4 that", path("file.mat")});
}

TEST_F(Mat5, RefusesAFifo) {
  ASSERT_EQ(::mkfifo(path("file.mat").c_str(), 0600), 0);
  tests::expect_mentions(message("X"), {"is a FIFO", path("file.mat")});
}

TEST_F(Mat5, NamesAnArrayThatIsMissing) {
  write("file.mat", mat5_file({first_}, true));
  tests::expect_mentions(message("y"), {"no array called y", path("file.mat")});
}

TEST_F(Mat5, NamesAFileThatIsMissing) { tests::expect_mentions(message("y"), {path("file.mat")}); }

}  // namespace
}  // namespace flightdeck::suite
