// SPDX-License-Identifier: MIT
// Folders that no recorder has written: they are refused by name, soon and in little memory.
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <thread>

#include <gtest/gtest.h>

#include "base/limits.h"
#include "record/blobs.h"
#include "record/bytes.h"
#include "record/checksum.h"
#include "record/entry.h"
#include "record/number_budget.h"
#include "record/sqlite.h"
#include "tests/record/made_steps.h"
#include "tests/record/runs.h"

namespace flightdeck::tests {
namespace {

using record::Database;
using ::testing::Test;

void expect_says(const std::string& message, const std::string& words) {
  EXPECT_NE(message.find(words), std::string::npos) << message;
}

Reading histogram(std::vector<ReadingAxis> axes, size_t counts) {
  Reading reading;
  reading.quantity = "hist";
  reading.kind = ReadingKind::kHistogram;
  reading.axes = std::move(axes);
  reading.counts.assign(counts, 0);
  return reading;
}

void change(const std::string& folder, const std::string& sql) {
  Database(folder + "/run.sqlite", Database::Mode::kWrite).run(sql);
}

// A journal of these payloads, framed as a recorder frames them.
void write_journal(const std::string& folder, const std::vector<std::string>& payloads) {
  std::filesystem::create_directories(folder);
  std::string bytes = std::string("FDJRNL\0\1", 8) + std::string(8, '\0');
  for (const std::string& payload : payloads) {
    record::put_u32(bytes, static_cast<uint32_t>(payload.size()));
    record::put_u32(bytes, record::crc32(payload));
    bytes += payload;
  }
  std::ofstream(folder + "/journal.0", std::ios::binary) << bytes;
}

std::string payload_of(const StepReadings& step) {
  std::string payload;
  record::put_entry(payload, step);
  return payload;
}

std::string opening(const std::string& folder) {
  return message_of([&] { RunReader reader(folder); });
}

// ---- histograms ---------------------------------------------------------------------------------

TEST(HostileHistograms, WithOtherCountsThanBinsAreRefused) {
  for (const Reading& wrong : {histogram({{0, 1, 1}, {0, 1, 1}}, 2000),
                               histogram({{0, 1, 3}, {0, 1, 0}}, 3),
                               histogram({{0, 1, 3}}, 2),
                               histogram({{0, 1, -3}}, 3),
                               histogram({}, 1),
                               histogram({{0, 1, 1}, {0, 1, 1}, {0, 1, 1}}, 1)}) {
    Reading reading;
    expect_says(
        message_of([&] { record::read_histogram_blob(record::histogram_blob(wrong), reading); }),
        "damaged");
  }
}

TEST(HostileHistograms, OfMoreBinsThanTheLimitAreRefusedBeforeTheyAreUnpacked) {
  Reading reading;
  std::string blob;
  record::put_varint(blob, 1);
  record::put_double(blob, 0);
  record::put_double(blob, 1);
  constexpr uint64_t kMany = uint64_t{1} << 28;
  record::put_varint(blob, kMany);
  for (int k = 0; k < 3; ++k) record::put_varint(blob, 0);
  record::put_varint(blob, kMany);
  record::put_varint(blob, 0);
  record::put_varint(blob, kMany);
  expect_says(message_of([&] { record::read_histogram_blob(blob, reading); }), "268435456 bins");
  EXPECT_EQ(reading.counts.capacity(), 0u);
}

TEST(HostileHistograms, ManyInOneEntryAreRefused) {
  StepReadings step = step_of(1, {});
  const Reading large = histogram({{0, 1, limits::kBins}}, limits::kBins);
  step.readings.assign(limits::kEntryNumbers / limits::kBins + 1, large);
  const std::string payload = payload_of(step);
  EXPECT_LT(payload.size(), 2000u);
  EXPECT_THROW(record::read_entry(payload), record::TooManyNumbers);
}

TEST(HostileHistograms, AreLeftOutByTheRecorderWithANote) {
  const RunFolder folder;
  {
    Recorder recorder(folder.path());
    recorder.begin(full_info());
    for (int64_t step = 0; step < 3; ++step) {
      recorder.write(step_of(step, {number("loss", 1), histogram({{0, 1, 2}, {0, 1, 3}}, 7)}));
    }
    recorder.finish(Ending::kFinished);
  }
  const RunReader reader(folder.path());
  ASSERT_EQ(reader.series().size(), 1u);
  EXPECT_EQ(reader.numbers(1).size(), 3u);
  ASSERT_EQ(reader.notes().size(), 1u);
  EXPECT_EQ(reader.notes()[0].quantity, "hist");
  expect_says(reader.notes()[0].text, "7 counts but axes of 6 bins");
}

// ---- entries of the journal ---------------------------------------------------------------------

TEST(HostileJournals, WithAnEntryOfGigabytesEndThere) {
  const RunFolder folder;
  write_journal(folder.path(), {payload_of(step_of(1, {number("loss", 1)}))});
  const std::string path = folder.path() + "/journal.0";
  const auto end = std::filesystem::file_size(path);
  std::string frame;
  record::put_u32(frame, 0xf0000000u);
  record::put_u32(frame, 0);
  std::ofstream(path, std::ios::binary | std::ios::app) << frame;
  std::filesystem::resize_file(path, end + 0xf0000008u);  // sparse
  EXPECT_EQ(RunReader(folder.path()).last_step(), 1);
}

TEST(HostileJournals, ThatUnpackToMoreThanTheLimitAreRefused) {
  const RunFolder folder;
  std::vector<std::string> payloads;
  const Reading large = histogram({{0, 1, limits::kBins}}, limits::kBins);
  for (int64_t step = 0; step <= limits::kTailBytes / (8 * limits::kBins); ++step) {
    payloads.push_back(payload_of(step_of(step, {large})));
  }
  write_journal(folder.path(), payloads);
  expect_says(opening(folder.path()), std::to_string(limits::kTailBytes) + " bytes");
}

TEST(HostileJournals, WithNamesBeyondTheLimitAreRefused) {
  const RunFolder folder;
  write_journal(folder.path(),
                {payload_of(step_of(1, {number(std::string(limits::kNameBytes + 1, 'x'), 1)}))});
  expect_says(opening(folder.path()), "4097 bytes in its name");
}

TEST(HostileJournals, WithManyTinyThingsTakeLittleMemory) {
  // Announces more of each than its bytes can hold.
  for (const char kind : {'\1', '\2'}) {
    std::string payload(1, kind);
    payload += std::string(kind == '\1' ? 8 + 8 : 1 + 8, '\0');
    record::put_varint(payload, uint64_t{1} << 20);
    payload += std::string(1 << 20, '\0');
    expect_says(message_of([&] { record::read_entry(payload); }), "1048576");
  }
}

// ---- files --------------------------------------------------------------------------------------

TEST(HostileFolders, WithAnythingButPlainFilesAreRefusedByName) {
  for (const char* name : {"run.sqlite",
                           "run.sqlite-wal",
                           "run.sqlite-shm",
                           "run.sqlite-journal",
                           "lock",
                           "journal.0"}) {
    const RunFolder folder;
    record_steps(folder.path(), 3);
    const std::string path = folder.path() + "/" + name;
    std::filesystem::remove(path);
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    expect_says(opening(folder.path()), path + "' is a FIFO");
    EXPECT_FALSE(RunReader::fingerprint(folder.path()).empty());

    std::filesystem::remove(path);
    std::filesystem::create_symlink("/dev/zero", path);
    expect_says(opening(folder.path()), path + "' is a symbolic link");
  }
}

TEST(HostileFolders, WithALinkedDatabaseDoNotLeadElsewhere) {
  const RunFolder folder, secret;
  record_steps(secret.path(), 3);
  write_journal(folder.path(), {payload_of(step_of(1, {number("loss", 1)}))});
  std::filesystem::create_symlink(secret.path() + "/run.sqlite", folder.path() + "/run.sqlite");
  expect_says(opening(folder.path()), "symbolic link");
}

// ---- databases ----------------------------------------------------------------------------------

constexpr const char* kEndless =
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT ";

TEST(HostileDatabases, WithViewsForTablesAreRefused) {
  const std::vector<std::pair<std::string, std::string>> views = {
      {"series",
       "i AS id, 'q' AS quantity, '' AS field, '' AS group_name, 'number' AS kind, "
       "1 AS count, 1 AS first_step, 1 AS last_step"},
      {"progress",
       "i AS journal_generation, 0 AS journal_offset, 0 AS entries, 0 AS last_step, "
       "0.0 AS last_time"},
      {"meta", "i AS key, i AS value"}};
  for (const auto& [table, columns] : views) {
    const RunFolder folder;
    record_steps(folder.path(), 3);
    change(
        folder.path(),
        "DROP TABLE " + table + "; CREATE VIEW " + table + " AS " + kEndless + columns + " FROM n");
    expect_says(opening(folder.path()), "'" + table + "' of the database is no table");
  }
}

TEST(HostileDatabases, WithComputedColumnsAreRefused) {
  const RunFolder folder;
  record_steps(folder.path(), 3);
  change(folder.path(),
         "DROP TABLE config; CREATE TABLE config(key TEXT, value AS (hex(zeroblob(1000000))))");
  expect_says(opening(folder.path()), "'config' of the database is no table");
  change(folder.path(), "DROP TABLE config; CREATE TABLE CONFIG(key TEXT, value AS (hex(key)))");
  expect_says(opening(folder.path()), "'CONFIG' of the database is no table");
}

TEST(HostileDatabases, WithRowsThatDoNotFitTogetherAreRefused) {
  const std::vector<std::pair<std::string, std::string>> changes = {
      {"UPDATE series SET id = 9 WHERE id = 4", "id 9 where 4 is due"},
      {"UPDATE series SET count = -1 WHERE id = 2", "series 2 has -1 values"},
      {"UPDATE series SET first_step = 9, last_step = 1 WHERE id = 2", "series 2 has"},
      {"UPDATE series SET field = hex(zeroblob(4000)) WHERE id = 1", "8000 bytes in its name"},
      {"UPDATE series SET kind = 'x'", "unknown kind of series 'x'"},
      {"UPDATE progress SET journal_generation = 9223372036854775807", "journal.922"},
      {"UPDATE progress SET journal_generation = 3, journal_offset = -1", "byte -1"}};
  for (const auto& [sql, words] : changes) {
    const RunFolder folder;
    record_steps(folder.path(), 3);
    change(folder.path(), sql);
    expect_says(opening(folder.path()), words);
  }
}

TEST(HostileDatabases, WithAnOverlongShapeSayWhichItIs) {
  const RunFolder folder;
  record_steps(folder.path(), 3);
  change(folder.path(), "UPDATE parameters SET shape = '[99999999999999999999]'");
  expect_says(message_of([&] { RunReader(folder.path()).info(); }), "[99999999999999999999]");
}

TEST(HostileDatabases, WithWrongStretchesAreRefused) {
  for (const char* sql : {"UPDATE stretches SET count = 9223372036854775807",
                          "UPDATE stretches SET count = 0",
                          "UPDATE stretches SET not_a_number = -1",
                          "UPDATE stretches SET last_step = -9223372036854775808"}) {
    const RunFolder folder;
    record_steps(folder.path(), 300);
    change(folder.path(), sql);
    const RunReader reader(folder.path());
    const StepRange all;
    expect_says(message_of([&] { reader.stretches(1, all, 10); }), "table stretches has");
    expect_says(message_of([&] { reader.frames(4, all, 10); }), "table stretches has");
  }
}

TEST(HostileDatabases, WithFramesOfManyBinsAreRefusedBeforeAllAreRead) {
  const RunFolder folder;
  {
    Recorder recorder(folder.path());
    recorder.begin(full_info());
    const Reading large = histogram({{0, 1, limits::kBins}}, limits::kBins);
    for (int64_t step = 0; step < 10; ++step) recorder.write(step_of(step, {large}));
    recorder.finish(Ending::kFinished);
  }
  const RunReader reader(folder.path());
  const int64_t most = 3 * limits::kBins;
  EXPECT_EQ(reader.frames(1, {}, 3, most).size(), 3u);
  EXPECT_THROW(reader.frames(1, {}, 4, most), record::TooManyNumbers);
  EXPECT_THROW(reader.frames(1, {}, 100, most), record::TooManyNumbers);
}

// ---- patience -----------------------------------------------------------------------------------

TEST(ReadersPatience, EndsAStatementThatGoesOn) {
  const RunFolder folder;
  record_steps(folder.path(), 3);
  const record::Patience patience(0.05, nullptr);
  Database database(folder.path() + "/run.sqlite", Database::Mode::kImmutable, &patience);
  EXPECT_THROW(database.integer(std::string(kEndless) + "max(i) FROM n"), record::OutOfPatience);
}

TEST(ReadersPatience, EndsWhenAnotherThreadSaysSo) {
  const RunFolder folder;
  record_steps(folder.path(), 3);
  const auto stop = std::make_shared<std::atomic<bool>>(false);
  const record::Patience patience(600, stop);
  Database database(folder.path() + "/run.sqlite", Database::Mode::kImmutable, &patience);
  std::thread stopper([&] { stop->store(true); });
  EXPECT_THROW(database.integer(std::string(kEndless) + "max(i) FROM n"), record::OutOfPatience);
  stopper.join();
  ReadOptions options;
  options.stop = stop;
  expect_says(message_of([&] { RunReader reader(folder.path(), options); }), "stopped");
}

TEST(ReadersPatience, HasNoMoreRowsThanTheFileHasRoomFor) {
  const RunFolder folder;
  record_steps(folder.path(), 3);
  const record::Patience patience(600, nullptr);
  const Database database(folder.path() + "/run.sqlite", Database::Mode::kImmutable, &patience);
  record::Statement rows(database, std::string(kEndless) + "i FROM n");
  expect_says(message_of([&] {
                while (rows.step()) {
                }
              }),
              "rows, which its file has no room for");
}

TEST(RunReaders, ReturnTheFirstNumbersOfARange) {
  const RunFolder folder;
  record_steps(folder.path(), 20);
  const RunReader reader(folder.path());
  const auto points = reader.numbers(1, {5, 15}, 3);
  ASSERT_EQ(points.size(), 3u);
  EXPECT_EQ(points[0].step, 5);
  EXPECT_EQ(points[2].step, 7);
}

}  // namespace
}  // namespace flightdeck::tests
