// SPDX-License-Identifier: MIT
// A recorded run whose database is not what was recorded. Input: changes of a few bytes at a place
// of the file, or new values of a column.
#include "fuzz/read_run.h"
#include "record/sqlite.h"

using namespace flightdeck;

namespace {

const char* const kColumns[][2] = {{"series", "id"},
                                   {"series", "quantity"},
                                   {"series", "field"},
                                   {"series", "group_name"},
                                   {"series", "kind"},
                                   {"series", "count"},
                                   {"series", "first_step"},
                                   {"series", "last_step"},
                                   {"numbers", "step"},
                                   {"numbers", "time"},
                                   {"numbers", "value"},
                                   {"lists", "value"},
                                   {"histograms", "value"},
                                   {"histograms", "step"},
                                   {"stretches", "count"},
                                   {"stretches", "last_step"},
                                   {"stretches", "min"},
                                   {"notes", "text"},
                                   {"notes", "kind"},
                                   {"progress", "last_step"},
                                   {"progress", "journal_generation"},
                                   {"progress", "journal_offset"},
                                   {"parameters", "shape"},
                                   {"meta", "value"},
                                   {"config", "value"},
                                   {"parameter_groups", "name"},
                                   {"quantities", "name"},
                                   {"stretches", "not_a_number"},
                                   {"stretches", "first_step"},
                                   {"series", "kind"}};

std::string recorded() {
  const std::string run = fuzz::folder() + "/recorded";
  {
    Recorder recorder(run);
    RunInfo info;
    info.start_time = 1;
    info.parameters = {{"weight", {2, 3}, "float32"}};
    info.groups = {"weight"};
    info.quantities = {{"loss", "the loss", "every 1", "", ""}};
    info.config = {{"seed", "3"}};
    recorder.begin(info);
    for (int64_t step = 0; step < 130; ++step) {
      Reading loss, list, histogram;
      loss.quantity = "loss";
      list.quantity = "list";
      list.kind = ReadingKind::kList;
      list.list = {1, 2};
      histogram.quantity = "histogram";
      histogram.kind = ReadingKind::kHistogram;
      histogram.axes = {{0, 1, 2}, {0, 1, 3}};
      histogram.counts = {0, 0, 0, 1, 2, 3};
      StepReadings readings{step, 1, {loss}};
      if (step % 64 == 0) readings.readings = {loss, list, histogram};
      recorder.write(readings);
    }
    recorder.note({1, 1, NoteKind::kRemark, "", "text"});
    recorder.finish(Ending::kFinished);
  }
  std::ifstream file(run + "/run.sqlite", std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  static const std::string original = recorded();
  const std::string run = fuzz::folder() + "/run";
  std::filesystem::create_directories(run);
  const std::string path = run + "/run.sqlite";
  std::string input = fuzz::text_of(bytes, size), file = original, sql;
  while (input.size() >= 4) {
    const uint8_t kind = static_cast<uint8_t>(input[0]);
    const size_t length = static_cast<uint8_t>(input[1]) % 32;
    const size_t place = static_cast<uint8_t>(input[2]) | static_cast<uint8_t>(input[3]) << 8;
    const std::string value = input.substr(4, length);
    input.erase(0, 4 + length);
    if (kind % 2 == 0) {
      file.replace(place % file.size(),
                   std::min(value.size(), file.size() - place % file.size()),
                   value.substr(0, file.size() - place % file.size()));
      continue;
    }
    const auto& column = kColumns[kind / 2 % (sizeof kColumns / sizeof kColumns[0])];
    std::string number = std::to_string(static_cast<int16_t>(place));
    std::string hex;
    for (const char c : value) {
      char digits[3];
      std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned>(static_cast<uint8_t>(c)));
      hex += digits;
    }
    if (length >= 8) {
      int64_t large = 0;
      for (size_t i = 0; i < 8 && i < value.size(); ++i) {
        large = static_cast<int64_t>(static_cast<uint64_t>(large) << 8 |
                                     static_cast<uint8_t>(value[i]));
      }
      if (length % 2 == 0) number = std::to_string(large);
    }
    // All rows, since tables without row ids have no common key.
    sql += std::string("UPDATE OR IGNORE ") + column[0] + " SET " + column[1] + " = " +
           (length % 2 == 1 ? "x'" + hex + "'" : number) + ";";
  }
  std::ofstream(path, std::ios::binary) << file;
  if (!sql.empty()) {
    fuzz::accepts([&] {
      record::Database database(path, record::Database::Mode::kWrite);
      database.run("PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY");
      database.run(sql);
    });
  }
  fuzz::read_run(run);
  std::filesystem::remove_all(run);
  return 0;
}
