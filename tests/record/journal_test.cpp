// SPDX-License-Identifier: MIT
#include "record/journal.h"

#include <fcntl.h>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "tests/record/runs.h"

namespace flightdeck::record {
namespace {

class Journal : public testing::Test {
 protected:
  Journal() : folder_(run_.path()) { std::filesystem::create_directories(run_.path()); }

  std::vector<std::string> all() const {
    JournalCursor cursor(folder_, {});
    std::vector<std::string> payloads;
    std::string payload;
    while (cursor.next(payload)) payloads.push_back(payload);
    return payloads;
  }

  tests::RunFolder run_;
  Folder folder_;
};

TEST_F(Journal, GivesBackWhatItWasGivenInOrder) {
  JournalWriter writer(folder_, 1 << 20);
  ASSERT_EQ(writer.open(), 0);
  for (const char* text : {"one", "two", "three"}) EXPECT_EQ(writer.append(text), 0);
  EXPECT_EQ(all(), (std::vector<std::string>{"one", "two", "three"}));
}

TEST_F(Journal, GoesOnInAnotherFile) {
  JournalWriter writer(folder_, 40);
  ASSERT_EQ(writer.open(), 0);
  std::vector<std::string> given;
  for (int i = 0; i < 20; ++i) {
    given.push_back("entry " + std::to_string(i));
    ASSERT_EQ(writer.append(given.back()), 0);
  }
  EXPECT_GT(writer.generation(), 3);
  EXPECT_EQ(all(), given);
}

TEST_F(Journal, CursorSeesWhatIsAppendedLater) {
  JournalWriter writer(folder_, 40);
  ASSERT_EQ(writer.open(), 0);
  JournalCursor cursor(folder_, {});
  std::string payload;
  for (int i = 0; i < 10; ++i) {
    EXPECT_FALSE(cursor.next(payload));
    ASSERT_EQ(writer.append(std::to_string(i)), 0);
    ASSERT_TRUE(cursor.next(payload));
    EXPECT_EQ(payload, std::to_string(i));
  }
}

TEST_F(Journal, IgnoresATornLastEntryWhereverItIsTorn) {
  JournalWriter writer(folder_, 1 << 20);
  ASSERT_EQ(writer.open(), 0);
  ASSERT_EQ(writer.append("whole"), 0);
  const int64_t whole = file_size(folder_.journal(0));
  ASSERT_EQ(writer.append("this one will be torn"), 0);
  for (int64_t size = file_size(folder_.journal(0)) - 1; size >= whole; --size) {
    std::filesystem::resize_file(folder_.journal(0), size);
    EXPECT_EQ(all(), std::vector<std::string>{"whole"}) << size;
  }
}

TEST_F(Journal, IgnoresAnEntryWithAWrongByte) {
  JournalWriter writer(folder_, 1 << 20);
  ASSERT_EQ(writer.open(), 0);
  ASSERT_EQ(writer.append("whole"), 0);
  ASSERT_EQ(writer.append("damaged"), 0);
  const File file(folder_.journal(0), O_RDWR);
  ASSERT_EQ(file.write_at(file.size() - 3, "X"), 0);
  EXPECT_EQ(all(), std::vector<std::string>{"whole"});
}

TEST_F(Journal, OfAnotherVersionIsRefused) {
  JournalWriter writer(folder_, 1 << 20);
  ASSERT_EQ(writer.open(), 0);
  ASSERT_EQ(File(folder_.journal(0), O_RDWR).write_at(7, "\x02"), 0);
  const std::string message = tests::message_of([&] { all(); });
  EXPECT_NE(message.find("format 2"), std::string::npos) << message;
}

}  // namespace
}  // namespace flightdeck::record
