// SPDX-License-Identifier: MIT
// Figures as data: panels of lines and matrices, before anything draws them. Analyses and
// experiments are made of them; svg, HTML and LaTeX draw them.
#pragma once

#include <cmath>
#include <string>
#include <vector>

namespace flightdeck::study {

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
// Returns eight that people with colour blindness can tell apart (Okabe and Ito, without the
// yellow).
const std::vector<Colour>& colours();

struct Line {
  std::string name;
  Look look;
  std::vector<double> x, y;
  std::vector<double> low, high;  // of a band, or of bars; empty: none
  std::string hint;
  // kThin is a thin line; kBars go from low to high and kMarks stand at the points, without a line.
  enum class Style { kLine, kThin, kBars, kMarks };
  Style style = Style::kLine;
  int pick = -1;  // place in the figure's legend by which a reader brings it to the front
};

struct Panel {
  std::string title, x_label, y_label;
  std::vector<Line> lines;
  double x_low = 0, x_high = 1, y_low = 0, y_high = 1;
  bool is_log_x = false, is_log_y = false;
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
  std::string between = " untuned to ", behind = " tuned";  // of the names of row and column
};

// ---- making them --------------------------------------------------------------------------------

// Makes a line in the colour at this place; places beyond the last colour begin again. Leaves out
// points that are not finite.
Line line_of(const std::string& name,
             size_t place,
             const std::vector<double>& x,
             const std::vector<double>& y);
// Makes the same as a mark at every point.
Line dots_of(const std::string& name,
             size_t place,
             const std::vector<double>& x,
             const std::vector<double>& y);

// Sets the limits to those of the lines, bands and level, with some room. On a logarithmic axis
// what is not above 0 does not count. Points alone on their axis get a range around them.
void fit_limits(Panel& panel);

}  // namespace flightdeck::study
