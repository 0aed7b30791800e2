// SPDX-License-Identifier: MIT
#include "serve/csv.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "base/csv.h"
#include "base/exact_text.h"
#include "base/series_name.h"

namespace flightdeck::serve {

namespace {

// Limits what is in memory at a time.
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
    const auto columns = std::max<int64_t>(1, static_cast<int64_t>(series_.size()));
    lines_ = std::clamp<int64_t>(kCells / columns, 1, kLines);
    is_over_ = series_.empty();
  }

  std::string heading() const {
    std::string text = "step,time";
    for (const SeriesInfo& one : series_) {
      text += "," + csv_field(series_name(one.quantity, one.field, one.group));
    }
    return text + "\r\n";
  }

  bool is_over() const { return is_over_; }

  // Returns up to `lines_` lines from `next_` on, however far apart their steps are.
  std::string next_piece() {
    std::map<int64_t, Line> lines;
    StepRange range;
    range.first = next_;
    for (size_t k = 0; k < series_.size(); ++k) {
      const std::vector<NumberPoint> points = run_->numbers(series_[k].id, range, lines_);
      if (static_cast<int64_t>(points.size()) == lines_) range.last = points.back().step;
      for (const NumberPoint& point : points) {
        Line& line = lines[point.step];
        line.cells.resize(series_.size());
        line.cells[k] = exact_text(point.value);
        line.time = std::max(line.time, point.time);
      }
      if (static_cast<int64_t>(lines.size()) > lines_) {
        range.last = std::min(range.last, std::next(lines.begin(), lines_ - 1)->first);
      }
      lines.erase(lines.upper_bound(range.last), lines.end());
    }
    is_over_ = range.last == StepRange().last;
    if (!is_over_) next_ = range.last + 1;
    std::string text;
    for (const auto& [step, line] : lines) {
      text +=
          std::to_string(step) + "," + exact_text(line.time) + "," + csv_line(line.cells) + "\r\n";
    }
    return text;
  }

 private:
  std::shared_ptr<const RunReader> run_;
  std::vector<SeriesInfo> series_;
  int64_t next_ = StepRange().first, lines_ = 1;
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

Response csv_of(std::shared_ptr<const RunReader> run,
                std::vector<SeriesInfo> series,
                const std::string& run_id) {
  const auto writer = std::make_shared<CsvWriter>(std::move(run), std::move(series));
  Response answer;
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
