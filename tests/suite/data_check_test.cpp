// SPDX-License-Identifier: MIT
#include "suite/data_check.h"

#include <torch/torch.h>

#include "errors.h"
#include "suite/files.h"
#include "suite/formats/sha256.h"

namespace flightdeck::suite {
namespace {

std::string hash_of(const std::string& text) {
  Sha256 hash;
  hash.add(text.data(), text.size());
  return hash.hex();
}

// Examples of FIPS 180-2, appendix B.
TEST(Sha256, GivesThePublishedHashes) {
  EXPECT_EQ(hash_of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hash_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hash_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hash_of(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

class DataCheckTest : public FilesTest {};

TEST_F(DataCheckTest, SaysWhatIsMissing) {
  const DataCheck check = check_data("mnist", folder_);
  EXPECT_FALSE(check.is_good());
  ASSERT_EQ(check.faults.size(), 1u);
  tests::expect_mentions(check.faults[0], {"mnist", "not in any"});
}

TEST_F(DataCheckTest, NamesSizeAndCountThatDiffer) {
  write("train.bin", std::string(5 * 3074, '\0'));
  write("test.bin", std::string(2 * 3074, '\0'));
  const DataCheck check = check_data("cifar100", folder_);
  ASSERT_EQ(check.faults.size(), 4u);
  tests::expect_mentions(check.faults[0], {"train.bin", "15370 bytes", "153700000"});
  tests::expect_mentions(check.faults[2], {"5 samples for training", "50000"});
  EXPECT_EQ(check.train_samples, 5);
  EXPECT_EQ(check.test_samples, 2);
}

TEST_F(DataCheckTest, RecognisesAChangedFileByItsHash) {
  const std::string zeros(60000, '\0');
  const std::string header("\0\0\x08\x01\0\0\xea\x60", 8);
  write("train-labels-idx1-ubyte", header + zeros);
  write("train-images-idx3-ubyte", "");
  write("t10k-images-idx3-ubyte", "");
  write("t10k-labels-idx1-ubyte", "");
  const DataCheck check = check_data("mnist", folder_);
  ASSERT_EQ(check.files.size(), 4u);
  EXPECT_EQ(check.files[1].bytes, check.files[1].expected_bytes);
  EXPECT_EQ(check.files[1].sha256, hash_of(header + zeros));
  EXPECT_FALSE(check.files[1].is_good);
  tests::expect_mentions(check.faults[1], {"train-labels-idx1-ubyte", "SHA-256"});
}

TEST_F(DataCheckTest, TellsWhatReadingSays) {
  write("train.bin", "abc");
  write("test.bin", "abc");
  const DataCheck check = check_data("cifar100", folder_);
  tests::expect_mentions(check.faults.back(), {"train.bin"});
}

TEST(DataCheck, FindsNothingWrongWithGeneratedData) {
  const DataCheck check = check_data("two_d");
  EXPECT_TRUE(check.is_good());
  EXPECT_TRUE(check.files.empty());
}

TEST(DataCheck, AcceptsFashionMnistWhereItIsInstalled) {
  if (!describe_data("fashion_mnist").is_found) GTEST_SKIP() << "dataset-fashion-mnist is missing";
  const DataCheck check = check_data("fashion_mnist");
  EXPECT_TRUE(check.is_good()) << (check.faults.empty() ? "" : check.faults[0]);
  EXPECT_EQ(check.train_samples, 60000);
}

}  // namespace
}  // namespace flightdeck::suite
