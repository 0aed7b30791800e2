// SPDX-License-Identifier: MIT
#include "suite/formats/text.h"

#include <torch/torch.h>

#include "errors.h"
#include "suite/data_set.h"
#include "suite/files.h"

namespace flightdeck::suite {
namespace {

TEST(Text, RanksCharactersByFrequencyThenByPlace) {
  const auto characters = decode_utf8("b\xc3\xa9ttab\r\n\xe2\x80\x94t", "file");
  ASSERT_EQ(characters.size(), 9u);  // without the carriage return
  EXPECT_EQ(characters[1], U'\u00e9');
  EXPECT_EQ(characters[7], U'\u2014');
  const at::Tensor ranks = ranks_of(characters, 83, "file");
  EXPECT_TRUE(torch::equal(ranks, torch::tensor({1, 2, 0, 0, 3, 1, 4, 5, 0}).to(torch::kByte)));
}

TEST(Text, RefusesWhatIsNotUtf8) {
  const auto message = [](const std::string& bytes) {
    return tests::error_of([&] { decode_utf8(bytes, "some/file"); });
  };
  tests::expect_mentions(message("ab\xe9 c"), {"some/file", "UTF-8", "byte 2", "233"});
  tests::expect_mentions(message("ab\xc3"), {"byte 2"});  // cut off
  tests::expect_mentions(message("\x80"), {"byte 0"});
}

TEST(Text, RefusesMoreCharactersThanTheNetworksKnow) {
  tests::expect_mentions(
      tests::error_of([] { ranks_of(decode_utf8("abcd", "some/file"), 3, "some/file"); }),
      {"some/file", "4 different", "know 3"});
}

TEST(Text, LosesTheFrameOfProjectGutenberg) {
  std::string text = "The Project Gutenberg EBook\n";
  for (int line = 2; line <= 70000; ++line) text += std::to_string(line) + "\n";
  const std::string rest = without_frame(text);
  EXPECT_EQ(rest.substr(0, 20), "30\n31\n32\n33\n805\n806\n");
  // Behind 800 lines that are gone, lines 63850 to 64207 were 64650 to 65007.
  EXPECT_NE(rest.find("\n64649\n65008\n"), std::string::npos);
  EXPECT_EQ(without_frame("1\n2\n"), "1\n2\n");
}

class Tolstoi : public FilesTest {
 protected:
  std::string message() {
    DataOptions options;
    options.folder = folder_;
    return tests::error_of([&] { load_data("tolstoi", options); });
  }
};

TEST_F(Tolstoi, TestsOnTheLastFifthAndValidatesOnTheFirst) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += static_cast<char>('a' + i % 23);
  write("war-and-peace.txt", text);
  DataOptions options;
  options.folder = folder_;
  const DataSet data = load_data("tolstoi", options);
  EXPECT_EQ(data.classes, 83);
  EXPECT_EQ(data.valid.size(), 19);  // of 1000 characters
  EXPECT_EQ(data.train.size(), 59);
  EXPECT_EQ(data.test.size(), 19);
  EXPECT_EQ(data.train_eval.size(), 19);
  ASSERT_EQ(data.train.inputs.sizes(), (std::vector<int64_t>{59, 50}));
  const auto letters = [](int64_t begin) { return torch::arange(begin, begin + 50).remainder(23); };
  EXPECT_TRUE(torch::equal(data.prepare(data.train.inputs)[0], letters(1000)));
  EXPECT_TRUE(torch::equal(data.train.targets[0], letters(1001)));
  EXPECT_TRUE(torch::equal(data.prepare(data.test.inputs)[1], letters(4050)));
}

TEST_F(Tolstoi, NamesWhatIsWrongWithTheFile) {
  tests::expect_mentions(message(), {"tolstoi was not found", "war-and-peace.txt", "gutenberg"});
  write("war-and-peace.txt", "too short");
  tests::expect_mentions(message(), {"war-and-peace.txt", "9 characters", "at least 306"});
}

}  // namespace
}  // namespace flightdeck::suite
