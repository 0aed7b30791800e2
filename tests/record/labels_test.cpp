// SPDX-License-Identifier: MIT
#include "record/labels.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "base/limits.h"

namespace flightdeck::record {
namespace {

namespace fs = std::filesystem;

class LabelsTest : public testing::Test {
 protected:
  LabelsTest() {
    folder_ = (fs::temp_directory_path() / "flightdeck-labels-XXXXXX").string();
    if (::mkdtemp(folder_.data()) == nullptr) std::abort();
  }
  ~LabelsTest() override { fs::remove_all(folder_); }

  void put(const std::string& text) const {
    std::ofstream(folder_ + "/labels.txt", std::ios::binary) << text;
  }
  std::string why_not() const {
    try {
      read_labels(folder_);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "";
  }

  std::string folder_;
};

TEST_F(LabelsTest, AreReadAsTheyWereWritten) {
  EXPECT_TRUE(read_labels(folder_).is_empty());
  change_labels(folder_, [](Labels& labels) {
    add_tag(labels, "baseline");
    add_tag(labels, "größe");
    add_tag(labels, "baseline");
    labels.note = "first line\ntag no-tag\n\nlast line\n";
    labels.is_archived = true;
  });
  const Labels labels = read_labels(folder_);
  EXPECT_EQ(labels.tags, (std::vector<std::string>{"baseline", "größe"}));
  EXPECT_EQ(labels.note, "first line\ntag no-tag\n\nlast line\n");
  EXPECT_TRUE(labels.is_archived);
}

TEST_F(LabelsTest, LeaveNoFileWhereThereAreNone) {
  change_labels(folder_, [](Labels& labels) { add_tag(labels, "baseline"); });
  EXPECT_TRUE(fs::exists(folder_ + "/labels.txt"));
  change_labels(folder_, [](Labels& labels) { remove_tag(labels, "baseline"); });
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(LabelsTest, StayAsTheyWereWhereAChangeIsRefused) {
  change_labels(folder_, [](Labels& labels) { add_tag(labels, "baseline"); });
  EXPECT_THROW(change_labels(folder_,
                             [](Labels& labels) {
                               add_tag(labels, "second");
                               add_tag(labels, "two words");
                             }),
               std::invalid_argument);
  EXPECT_EQ(read_labels(folder_).tags, std::vector<std::string>{"baseline"});
}

TEST_F(LabelsTest, LoseNothingWhereManyLabelAtOnce) {
  std::vector<std::thread> people;
  for (int k = 0; k < 16; ++k) {
    people.emplace_back([this, k] {
      change_labels(folder_, [k](Labels& labels) { add_tag(labels, "t" + std::to_string(k)); });
    });
  }
  for (std::thread& one : people) one.join();
  EXPECT_EQ(read_labels(folder_).tags.size(), 16u);
}

TEST_F(LabelsTest, RefuseWhatIsNoTagOrNote) {
  const std::string long_tag(limits::kTagBytes + 1, 'a');
  for (const std::string& tag : {std::string(),
                                 std::string("two words"),
                                 std::string("a\nb"),
                                 std::string("\x1b[31m"),
                                 std::string("\xff"),
                                 long_tag}) {
    EXPECT_THROW(check_tag(tag), std::invalid_argument) << tag;
  }
  EXPECT_THROW(check_note(std::string(limits::kNoteBytes + 1, 'a')), std::invalid_argument);
  EXPECT_THROW(check_note("\x1b[31m"), std::invalid_argument);
  EXPECT_NO_THROW(check_note("two\nlines"));
  Labels labels;
  for (int64_t k = 0; k < limits::kTags; ++k) add_tag(labels, "t" + std::to_string(k));
  EXPECT_THROW(add_tag(labels, "one-more"), std::invalid_argument);
  EXPECT_THROW(remove_tag(labels, "missing"), std::invalid_argument);
}

TEST_F(LabelsTest, OfOthersAreReadWithinLimits) {
  put("");
  EXPECT_NE(why_not().find("remove the file"), std::string::npos);
  put("flightdeck labels 2\n");
  EXPECT_NE(why_not().find("'flightdeck labels 2'"), std::string::npos);
  put("flightdeck labels 1\ntag two words\n");
  EXPECT_NE(why_not().find("'two words'"), std::string::npos);
  put("flightdeck labels 1\nnote\n" + std::string(limits::kLabelsBytes, 'a'));
  EXPECT_NE(why_not().find("more than 65536 bytes"), std::string::npos);
  put("flightdeck labels 1\nstar\ntag later\n");
  EXPECT_EQ(read_labels(folder_).tags, std::vector<std::string>{"later"});
}

TEST_F(LabelsTest, AreNoLinksAndNoPipes) {
  put("flightdeck labels 1\ntag elsewhere\n");
  fs::rename(folder_ + "/labels.txt", folder_ + "/other");
  fs::create_symlink(folder_ + "/other", folder_ + "/labels.txt");
  EXPECT_NE(why_not().find("a symbolic link"), std::string::npos);
  fs::remove(folder_ + "/labels.txt");
  ASSERT_EQ(::mkfifo((folder_ + "/labels.txt").c_str(), 0600), 0);
  EXPECT_NE(why_not().find("a FIFO"), std::string::npos);
}

}  // namespace
}  // namespace flightdeck::record
