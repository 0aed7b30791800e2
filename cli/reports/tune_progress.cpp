// SPDX-License-Identifier: MIT
#include "cli/reports/tune_progress.h"

#include <algorithm>
#include <vector>

#include "cli/text/numbers.h"
#include "cli/text/terminal.h"

namespace flightdeck::cli {
namespace {

// A piece of the line; those of a higher rank are left out before the others.
struct Piece {
  int rank;
  std::string text;
};

std::string line_of(const std::vector<Piece>& pieces) {
  std::string text;
  for (const Piece& piece : pieces) text += (text.empty() ? "" : ", ") + piece.text;
  return text;
}

}  // namespace

size_t left_of(const study::Progress& progress) {
  return progress.planned - progress.ended - progress.running - progress.failed;
}

std::string text_of(const study::Progress& progress, size_t columns) {
  const auto number = [](size_t count) { return std::to_string(count); };
  std::vector<Piece> pieces = {
      {0, number(progress.ended) + " of " + counted(int64_t(progress.planned), "run") + " done"},
      {3, number(progress.running) + " running"},
      {4, number(left_of(progress)) + " left"}};
  if (progress.elsewhere > 0) {
    pieces.push_back({5, number(progress.elsewhere) + " held by other processes"});
  }
  if (progress.failed > 0) pieces.push_back({1, number(progress.failed) + " failed"});
  if (progress.most > progress.planned) {
    pieces.push_back({2, "up to " + number(progress.most - progress.planned) + " more to plan"});
  }
  if (progress.seconds_left > 0) {
    pieces.push_back({0, "at most " + duration(progress.seconds_left) + " left"});
  }
  while (display_width(line_of(pieces)) > columns) {
    const auto least =
        std::max_element(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) {
          return a.rank < b.rank;
        });
    if (least->rank == 0) break;
    pieces.erase(least);
  }
  return line_of(pieces);
}

}  // namespace flightdeck::cli
