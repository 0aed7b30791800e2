// SPDX-License-Identifier: MIT
// The analysis as tables and figures, before they become HTML or LaTeX. Texts are plain.
#pragma once

#include <cmath>
#include <string>
#include <variant>
#include <vector>

#include "study/analysis/analysis.h"

namespace flightdeck::study {

struct TableCell {
  std::string text;
  double score = NAN;     // shading: 0 worst to 1 best of its column; not a number: none
  std::string hint = "";  // shown where the reader points
};

struct ShownTable {
  std::string id, title, caption;
  std::vector<std::string> columns;
  std::vector<std::vector<TableCell>> rows;
  bool is_folded = false;
  std::vector<size_t> word_columns = {0};  // positions; all others hold numbers

  bool has_words(size_t column) const;
};

// How a line looks, the same in all figures and formats.
struct Look {
  static constexpr int kMuted = -1, kAccent = -2;
  int colour = 0;  // of colours(), or one of the two above
  int marker = 0;  // 0: none, then circle, square, triangle
  bool is_dashed = false;
};

struct Colour {
  const char* light;  // "#rrggbb" on white
  const char* dark;   // on a dark ground
};
// Eight that people with colour blindness can tell apart (Okabe and Ito, without the yellow).
const std::vector<Colour>& colours();

// Of the optimizer's place among all: beyond the eighth with markers, dashed for baselines.
Look look_of(const std::vector<std::string>& competitors, const std::string& competitor);

struct Line {
  std::string name;
  Look look;
  std::vector<double> x, y;
  std::vector<double> low, high;  // of a band, or of bars; empty: none
  std::string hint;
  // A thin line; bars from low to high, or marks at the points, without a line.
  enum class Style { kLine, kThin, kBars, kMarks };
  Style style = Style::kLine;
  int pick = -1;  // place in the figure's legend by which a reader brings it to the front
};

struct Panel {
  std::string title, x_label, y_label;
  std::vector<Line> lines;
  double x_low = 0, x_high = 1, y_low = 0, y_high = 1;
  bool is_log_x = false;
  bool is_stepped = false;           // lines keep their height up to the next point
  double level = NAN;                // a horizontal line
  std::vector<std::string> x_names;  // in place of the numbers 0, 1, 2, ...
  std::vector<std::string> x_tops;   // at the upper ends of the same; empty: none
};

struct Figure {
  std::string id, title, caption;
  std::vector<Panel> panels;
  std::vector<std::string> legend;  // competitors; empty: none
  bool is_folded = false;
  bool is_interactive = false;  // on a page the names of the legend can be chosen
};

// A matrix with coloured cells.
struct Heatmap {
  std::string id, title, caption;
  std::vector<std::string> rows, columns;
  std::vector<std::vector<double>> values;  // not a number: empty cell
  double cap = 1;                           // value with the full colour
  int digits = 1;
  bool is_folded = false;
};

using ReportPart = std::variant<ShownTable, Figure, Heatmap>;

struct Section {
  std::string id, title;
  std::vector<ReportPart> parts;
};

struct AnalysisReport {
  std::string title;
  std::vector<std::string> facts, warnings;
  std::vector<std::string> competitors;
  std::vector<Section> sections;
};

AnalysisReport make_report(const Analysis& analysis);

}  // namespace flightdeck::study
