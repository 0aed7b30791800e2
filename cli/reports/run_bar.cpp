// SPDX-License-Identifier: MIT
#include "cli/reports/run_bar.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "cli/text/numbers.h"
#include "cli/text/terminal.h"

namespace flightdeck::cli {
namespace {

// Pieces of a higher rank are left out before the others.
struct BarPiece {
  int rank;
  std::string text;
};

size_t width_of(const std::vector<BarPiece>& pieces) {
  size_t width = 0;
  for (const BarPiece& piece : pieces) width += display_width(piece.text) + (width > 0 ? 2 : 0);
  return width;
}

constexpr size_t kMostRunBar = 40, kLeastRunBar = 6;

}  // namespace

std::string bar_text(const RunBar& run, size_t columns, bool utf8) {
  const std::string total = std::to_string(run.of);
  std::vector<BarPiece> pieces = {
      {3, run.title},
      {0, pad_left(std::to_string(run.done), total.size()) + "/" + total},
      {1, "loss " + pad_right(short_number(run.loss), 10)},
      {2, std::isnan(run.accuracy) ? "" : "accuracy " + pad_left(percent(run.accuracy), 7)},
      {4, pad_left(short_number(run.steps_per_second), 9) + " steps/s"},
      {0, pad_left(duration(run.seconds_left), 11) + " left"}};
  const auto no_text = [](const BarPiece& piece) { return piece.text.empty(); };
  pieces.erase(std::remove_if(pieces.begin(), pieces.end(), no_text), pieces.end());
  while (width_of(pieces) > columns) {
    const auto least =
        std::max_element(pieces.begin(), pieces.end(), [](const BarPiece& a, const BarPiece& b) {
          return a.rank < b.rank;
        });
    if (least->rank == 0) break;
    pieces.erase(least);
  }
  const size_t taken = width_of(pieces) + 4;  // brackets and a gap
  if (columns >= taken + kLeastRunBar) {
    const double share = double(run.done) / double(std::max<int64_t>(1, run.of));
    const size_t place = pieces.front().rank == 3 ? 1 : 0;
    pieces.insert(pieces.begin() + static_cast<std::ptrdiff_t>(place),
                  {0, progress_bar(share, std::min(kMostRunBar, columns - taken), utf8)});
  }
  std::string text;
  for (const BarPiece& piece : pieces) text += (text.empty() ? "" : "  ") + piece.text;
  // This happens only without a bar, so all characters are single bytes.
  if (display_width(text) > columns) text.resize(columns);
  return text;
}

}  // namespace flightdeck::cli
