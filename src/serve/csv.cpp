// SPDX-License-Identifier: MIT
#include "serve/csv.h"

#include <algorithm>
#include <map>

#include "record/text.h"

namespace flightdeck::serve {

namespace {

// What is in memory at a time, if the steps are spread evenly.
constexpr int64_t kLines = 4096;
constexpr int64_t kCells = 1 << 18;

struct Line {
  double time = 0;
  std::vector<std::string> cells;
};

class CsvWriter {
 public:
  CsvWriter(std::shared_ptr<const RunReader> run, std::vector<SeriesInfo> series)
      : run_(std::move(run)), series_(std::move(series)) {
    int64_t most = 1;
    bool is_first = true;
    for (const SeriesInfo& one : series_) {
      if (one.count == 0) continue;
      next_ = is_first ? one.first_step : std::min(next_, one.first_step);
      last_ = is_first ? one.last_step : std::max(last_, one.last_step);
      most = std::max(most, one.count);
      is_first = false;
    }
    is_over_ = is_first;
    // Unsigned: the steps may span more than half of the integers.
    const uint64_t span = static_cast<uint64_t>(last_) - static_cast<uint64_t>(next_);
    const auto columns = std::max<int64_t>(1, static_cast<int64_t>(series_.size()));
    const int64_t lines = std::clamp<int64_t>(kCells / columns, 1, kLines);
    width_ = span / static_cast<uint64_t>(most / lines + 1);
  }

  std::string heading() const {
    std::string text = "step,time";
    for (const SeriesInfo& one : series_) {
      text += "," + record::csv_field(one.quantity + (one.field.empty() ? "" : "/" + one.field) +
                                      (one.group.empty() ? "" : "@" + one.group));
    }
    return text + "\r\n";
  }

  bool is_over() const { return is_over_; }

  std::string next_piece() {
    const uint64_t left = static_cast<uint64_t>(last_) - static_cast<uint64_t>(next_);
    const StepRange range = {
        next_, static_cast<int64_t>(static_cast<uint64_t>(next_) + std::min(left, width_))};
    is_over_ = range.last == last_;
    if (!is_over_) next_ = range.last + 1;
    std::map<int64_t, Line> lines;
    for (size_t k = 0; k < series_.size(); ++k) {
      for (const NumberPoint& point : run_->numbers(series_[k].id, range)) {
        Line& line = lines[point.step];
        line.cells.resize(series_.size());
        line.cells[k] = record::number_text(point.value);
        line.time = std::max(line.time, point.time);
      }
    }
    std::string text;
    for (const auto& [step, line] : lines) {
      text += std::to_string(step) + "," + record::number_text(line.time);
      for (const std::string& cell : line.cells) text += "," + cell;
      text += "\r\n";
    }
    return text;
  }

 private:
  std::shared_ptr<const RunReader> run_;
  std::vector<SeriesInfo> series_;
  int64_t next_ = 0, last_ = 0;
  uint64_t width_ = 0;
  bool is_over_ = false;
};

std::string file_name(const std::string& run_id) {
  std::string name;
  for (const char c : run_id) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
    name += is_plain ? c : '_';
  }
  return (name == "." ? "run" : name) + ".csv";
}

}  // namespace

Answer csv_of(std::shared_ptr<const RunReader> run,
              std::vector<SeriesInfo> series,
              const std::string& run_id) {
  const auto writer = std::make_shared<CsvWriter>(std::move(run), std::move(series));
  Answer answer;
  answer.type = "text/csv; charset=utf-8";
  answer.headers = {{"Content-Disposition", "attachment; filename=\"" + file_name(run_id) + "\""},
                    {"Cache-Control", "no-store"}};
  answer.stream = [writer, has_heading = false](Outlet& out) mutable {
    if (!has_heading) {
      has_heading = true;
      return out.write(writer->heading()) && !writer->is_over();
    }
    return out.write(writer->next_piece()) && !writer->is_over();
  };
  return answer;
}

}  // namespace flightdeck::serve
