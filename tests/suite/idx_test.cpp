// SPDX-License-Identifier: MIT
#include "suite/formats/idx.h"

#include <sys/stat.h>

#include <torch/torch.h>

#include "errors.h"
#include "suite/files.h"

namespace flightdeck::suite {
namespace {

class Idx : public FilesTest {
 protected:
  std::string message(int dimensions) {
    return tests::error_of([&] { read_idx(path("file"), dimensions); });
  }
  const at::Tensor values_ =
      torch::tensor({1, 2, 3, 4, 5, 255}, torch::kInt).to(torch::kByte).view({2, 3});
};

TEST_F(Idx, ReadsShapeAndValues) {
  write("file", std::string("\0\0\x08\x02\0\0\0\x02\0\0\0\x03", 12) + "\x01\x02\x03\x04\x05\xff");
  EXPECT_TRUE(torch::equal(read_idx(path("file"), 2), values_));
}

TEST_F(Idx, ReadsCompressedFiles) {
  write("file", gzip(idx_file(values_)));
  EXPECT_TRUE(torch::equal(read_idx(path("file"), 2), values_));
}

TEST_F(Idx, RefusesAShortFile) {
  write("file", idx_file(values_));
  shorten("file", 2);
  tests::expect_mentions(message(2), {"ends 2 bytes before", path("file")});
}

TEST_F(Idx, RefusesACompressedFileThatIsCut) {
  write("file", gzip(idx_file(torch::randint(256, {100, 28, 28}).to(torch::kByte))));
  shorten("file", 1000);
  tests::expect_mentions(message(3), {"bytes before", path("file")});
}

TEST_F(Idx, RefusesMoreValuesThanItsLimit) {
  write("file", std::string("\0\0\x08\x02\0\x01\0\0\0\x01\0\0", 12));
  tests::expect_mentions(message(2), {"[65536, 65536]", "1073741824", path("file")});
}

TEST_F(Idx, RefusesAFifo) {
  ASSERT_EQ(::mkfifo(path("file").c_str(), 0600), 0);
  tests::expect_mentions(message(2), {"is a FIFO", path("file")});
}

TEST_F(Idx, RefusesALongFile) {
  write("file", idx_file(values_) + "x");
  tests::expect_mentions(message(2), {"goes on after the 6 values"});
}

TEST_F(Idx, RefusesAnotherFormat) {
  write("file", "P5 28 28 255");
  tests::expect_mentions(message(3), {"80 53 32 50", "starts with 0 0 8 3"});
}

TEST_F(Idx, RefusesLabelsInPlaceOfImages) {
  write("file", idx_file(values_));
  tests::expect_mentions(message(3), {"0 0 8 2", "0 0 8 3"});
}

TEST_F(Idx, NamesAFileThatIsMissing) { tests::expect_mentions(message(3), {path("file")}); }

}  // namespace
}  // namespace flightdeck::suite
