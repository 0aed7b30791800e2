// SPDX-License-Identifier: MIT
#include "study/analysis/svg.h"

#include <algorithm>
#include <cmath>

#include "study/analysis/number_text.h"
#include "study/analysis/thinning.h"
#include "study/analysis/ticks.h"

namespace flightdeck::study {
namespace {

constexpr double kLeft = 46, kRight = 10, kTop = 24, kBottom = 38;

// A row of the page has three panels, two wider ones, or one beside a table, so that letters are
// about as large in all of them.
struct Frame {
  double width = 360, height = 230;

  explicit Frame(size_t panels_in_row) {
    if (panels_in_row == 2) width = 546;
    if (panels_in_row == 1) width = 640;
    if (panels_in_row < 3) height = 280;
  }
  double inner_width() const { return width - kLeft - kRight; }
  double inner_height() const { return height - kTop - kBottom; }
};

std::string at(double value) {
  std::string text = fixed(value, 1);
  if (text.size() > 2 && text.compare(text.size() - 2, 2, ".0") == 0) text.resize(text.size() - 2);
  return text;
}

// Turns values into coordinates inside the panel's frame.
class Scale {
 public:
  Scale(const Panel& panel, const Frame& of) : frame(of), panel_(panel) {}

  const Frame frame;

  double x(double value) const {
    const double low = position(panel_.x_low, panel_.is_log_x);
    const double high = position(panel_.x_high, panel_.is_log_x);
    return high > low
               ? (position(value, panel_.is_log_x) - low) / (high - low) * frame.inner_width()
               : frame.inner_width() / 2;
  }
  double y(double value) const {
    if (panel_.is_log_y && value <= 0) return 2000;
    const double low = position(panel_.y_low, panel_.is_log_y);
    const double high = position(panel_.y_high, panel_.is_log_y);
    const double share = (position(value, panel_.is_log_y) - low) / (high - low);
    // What is this far outside is out of sight; browsers do not take numbers of any size.
    return std::clamp((1 - share) * frame.inner_height(), -2000.0, 2000.0);
  }

 private:
  static double position(double value, bool is_log) { return is_log ? std::log10(value) : value; }
  const Panel& panel_;
};

std::string class_of(const Look& look) {
  if (look.colour == Look::kMuted) return "muted";
  if (look.colour == Look::kAccent) return "accent";
  return "c" + std::to_string(look.colour);
}

std::string marker(const Look& look, double x, double y) {
  const double r = 3;
  if (look.marker == 1) {
    return "<circle cx=\"" + at(x) + "\" cy=\"" + at(y) + "\" r=\"3\"/>";
  }
  if (look.marker == 2) {
    return "<rect x=\"" + at(x - r) + "\" y=\"" + at(y - r) + "\" width=\"6\" height=\"6\"/>";
  }
  return "<path d=\"M" + at(x) + " " + at(y - 4) + "l4 7h-8z\"/>";
}

std::string markers(const Line& line, const Scale& scale) {
  if (line.look.marker == 0 || line.x.empty()) return "";
  std::string text = "<g class=\"mark\">";
  const bool has_all = line.style == Line::Style::kMarks;
  const size_t step = has_all ? 1 : std::max<size_t>(1, line.x.size() / 5);
  // Neighbours in the legend begin at different places, so that marks do not cover each other.
  const size_t first = line.look.colour < 0 ? 0 : static_cast<size_t>(line.look.colour) % step;
  for (size_t k = first; k < line.x.size(); k += step) {
    text += marker(line.look, scale.x(line.x[k]), scale.y(line.y[k]));
  }
  return text + "</g>";
}

std::string path_of(const Line& line, const Scale& scale, bool is_stepped) {
  std::string path;
  for (size_t k = 0; k < line.x.size(); ++k) {
    const std::string x = at(scale.x(line.x[k])), y = at(scale.y(line.y[k]));
    if (k == 0) {
      path += "M" + x + " " + y;
    } else if (is_stepped) {
      path += "H" + x + "V" + y;
    } else {
      path += "L" + x + " " + y;
    }
  }
  return path;
}

std::string band(const Line& line, const Scale& scale) {
  if (line.low.empty()) return "";
  std::string points;
  for (size_t k = 0; k < line.x.size(); ++k) {
    points += at(scale.x(line.x[k])) + "," + at(scale.y(line.high[k])) + " ";
  }
  for (size_t k = line.x.size(); k-- > 0;) {
    points += at(scale.x(line.x[k])) + "," + at(scale.y(line.low[k])) + " ";
  }
  points.pop_back();
  return "<polygon class=\"band\" points=\"" + points + "\"/>";
}

// Draws a triangle at the upper or lower edge where a line leaves the frame, which cuts it off.
std::string exits(const Line& line, const Scale& scale, bool is_stepped) {
  // Nobody follows one of many faint lines, so these get no triangles.
  if (is_stepped || line.look.colour == Look::kMuted) return "";
  const double height = scale.frame.inner_height();
  const auto is_outside = [&](double y) { return y < 0 || y > height; };
  std::string text;
  for (size_t k = 0; k < line.x.size(); ++k) {
    const double y = scale.y(line.y[k]);
    if (!is_outside(y)) continue;
    const double edge = y < 0 ? 0 : height;
    double x = scale.x(line.x[k]);
    if (k > 0) {
      const double x0 = scale.x(line.x[k - 1]), y0 = scale.y(line.y[k - 1]);
      if (is_outside(y0)) continue;
      x = x0 + (x - x0) * (edge - y0) / (y - y0);
    }
    // The tip of the triangle is at the edge.
    text += "<path class=\"mark exit\" d=\"M" + at(x) + " " + at(edge) +
            (y < 0 ? "l4 7h-8z\"/>" : "l4 -7h-8z\"/>");
  }
  return text;
}

// Draws a bar from low to high at every point, with a foot at both ends.
std::string bars(const Line& line, const Scale& scale) {
  std::string path;
  for (size_t k = 0; k < line.x.size(); ++k) {
    const double x = scale.x(line.x[k]);
    const std::string low = at(scale.y(line.low[k])), high = at(scale.y(line.high[k]));
    path += "M" + at(x) + " " + low + "V" + high + "M" + at(x - 4) + " " + low + "h8M" + at(x - 4) +
            " " + high + "h8";
  }
  return "<path class=\"bars\" d=\"" + path + "\"/>";
}

std::string body_of(const Line& line, const Scale& scale, bool is_stepped) {
  if (line.style == Line::Style::kBars) return bars(line, scale);
  if (line.style == Line::Style::kMarks) return markers(line, scale);
  return band(line, scale) + "<path class=\"line" + (line.look.is_dashed ? " dashed" : "") +
         (line.style == Line::Style::kThin ? " thin" : "") + "\" d=\"" +
         path_of(line, scale, is_stepped) + "\"/>" + markers(line, scale) +
         exits(line, scale, is_stepped);
}

std::string drawn(const Line& line, const Scale& scale, bool is_stepped) {
  const std::string picked = line.pick < 0 ? "" : " pick k" + std::to_string(line.pick);
  return "<g class=\"" + class_of(line.look) + picked + "\"><title>" + escaped(line.hint) +
         "</title>" + body_of(line, scale, is_stepped) + "</g>";
}

std::string text_at(double x, double y, const std::string& anchor, const std::string& text) {
  return "<text x=\"" + at(x) + "\" y=\"" + at(y) + "\" text-anchor=\"" + anchor + "\">" +
         escaped(text) + "</text>";
}

bool is_power_of_ten(double value) {
  const double exponent = std::log10(value);
  return std::fabs(exponent - std::round(exponent)) < 1e-6;
}

bool is_short_number(double value) { return value >= 0.0009 && value < 1e4; }

// Writes all labels in one notation: plain numbers while they are short, else powers of ten.
std::vector<std::string> log_labels(const std::vector<double>& marks) {
  const bool are_short = std::all_of(marks.begin(), marks.end(), is_short_number);
  const bool are_powers = std::all_of(marks.begin(), marks.end(), is_power_of_ten);
  std::vector<std::string> labels;
  for (const double mark : marks) {
    const bool is_power = are_powers && !are_short;
    labels.push_back(is_power ? "1e" + fixed(std::log10(mark), 0)
                              : significant(mark, are_short ? 4 : 2));
  }
  return labels;
}

std::string x_axis(const Panel& panel, const Scale& scale) {
  std::string svg;
  const auto mark = [&](double value, const std::string& text) {
    const double x = kLeft + scale.x(value);
    svg += "<line class=\"grid\" x1=\"" + at(x) + "\" x2=\"" + at(x) + "\" y1=\"" + at(kTop) +
           "\" y2=\"" + at(kTop + scale.frame.inner_height()) + "\"/>" +
           text_at(x, kTop + scale.frame.inner_height() + 14, "middle", text);
  };
  if (!panel.x_names.empty()) {
    for (size_t k = 0; k < panel.x_names.size(); ++k) {
      mark(static_cast<double>(k), panel.x_names[k]);
    }
    for (size_t k = 0; k < panel.x_tops.size(); ++k) {
      svg += text_at(kLeft + scale.x(static_cast<double>(k)), kTop + 11, "middle", panel.x_tops[k]);
    }
  } else if (panel.is_log_x) {
    const std::vector<double> marks = log_ticks(panel.x_low, panel.x_high, 5);
    const std::vector<std::string> labels = log_labels(marks);
    for (size_t k = 0; k < marks.size(); ++k) mark(marks[k], labels[k]);
  } else {
    for (const double x : ticks(panel.x_low, panel.x_high, 5)) mark(x, significant(x, 6));
  }
  return svg + text_at(kLeft + scale.frame.inner_width() / 2,
                       scale.frame.height - 5,
                       "middle",
                       panel.x_label);
}

std::string y_axis(const Panel& panel, const Scale& scale) {
  std::string svg;
  std::vector<double> marks;
  std::vector<std::string> labels;
  if (panel.is_log_y) {
    marks = log_ticks(panel.y_low, panel.y_high, 5);
    labels = log_labels(marks);
  } else {
    marks = ticks(panel.y_low, panel.y_high, 5);
    for (const double value : marks) labels.push_back(significant(value, 6));
  }
  for (size_t k = 0; k < marks.size(); ++k) {
    const double y = kTop + scale.y(marks[k]);
    svg += "<line class=\"grid\" x1=\"" + at(kLeft) + "\" x2=\"" +
           at(kLeft + scale.frame.inner_width()) + "\" y1=\"" + at(y) + "\" y2=\"" + at(y) +
           "\"/>" + text_at(kLeft - 5, y + 4, "end", labels[k]);
  }
  return svg;
}

constexpr double kCellWidth = 46, kCellHeight = 24;

// Makes room for the names: a letter is some 7 wide, and columns lean by 45 degrees.
struct HeatmapFrame {
  double names, heads, width, height;

  explicit HeatmapFrame(const Heatmap& map) {
    const auto longest = [](const std::vector<std::string>& texts) {
      size_t letters = 0;
      for (const std::string& text : texts) letters = std::max(letters, text.size());
      return 7.0 * static_cast<double>(letters);
    };
    names = longest(map.rows) + 16;
    heads = 0.71 * longest(map.columns) + 20;
    width =
        names + kCellWidth * static_cast<double>(map.columns.size()) + 0.71 * longest(map.columns);
    height = heads + kCellHeight * static_cast<double>(map.rows.size()) + 4;
  }
};

}  // namespace

std::string escaped(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

std::string svg_panel(const Panel& panel, size_t points, size_t panels_in_row) {
  const Frame frame(panels_in_row);
  const Scale scale(panel, frame);
  std::string title = panel.title;
  if (!panel.y_label.empty()) title += (title.empty() ? "" : ": ") + panel.y_label;
  std::string svg = "<svg class=\"panel\" viewBox=\"0 0 " + at(frame.width) + " " +
                    at(frame.height) + "\" role=\"img\" aria-label=\"" + escaped(title) + "\">";
  svg += "<text class=\"head\" x=\"" + at(kLeft) + "\" y=\"14\">" + escaped(title) + "</text>";
  svg += x_axis(panel, scale) + y_axis(panel, scale);
  // A nested svg element cuts off what leaves the limits.
  svg += "<svg x=\"" + at(kLeft) + "\" y=\"" + at(kTop) + "\" width=\"" + at(frame.inner_width()) +
         "\" height=\"" + at(frame.inner_height()) + "\" overflow=\"hidden\">";
  if (std::isfinite(panel.level)) {
    const std::string y = at(scale.y(panel.level));
    svg += "<line class=\"level\" x1=\"0\" x2=\"" + at(frame.inner_width()) + "\" y1=\"" + y +
           "\" y2=\"" + y + "\"/>";
  }
  for (const Line& line : panel.lines) {
    svg += drawn(
        line.style == Line::Style::kMarks ? line : thinned(line, points), scale, panel.is_stepped);
  }
  return svg + "</svg></svg>";
}

PanelSize svg_panel_size(size_t panels_in_row) {
  const Frame frame(panels_in_row);
  return {frame.width, frame.height};
}

std::string svg_key(const Look& look) {
  std::string svg = "<svg class=\"key " + class_of(look) +
                    "\" viewBox=\"0 0 28 10\" width=\"28\" height=\"10\" aria-hidden=\"true\">"
                    "<path class=\"line" +
                    (look.is_dashed ? std::string(" dashed") : "") + "\" d=\"M0 5H28\"/>";
  if (look.marker != 0) svg += "<g class=\"mark\">" + marker(look, 14, 5) + "</g>";
  return svg + "</svg>";
}

PanelSize svg_heatmap_size(const Heatmap& map) {
  const HeatmapFrame frame(map);
  return {frame.width, frame.height};
}

std::string svg_heatmap(const Heatmap& map) {
  const auto [names, heads, width, height] = HeatmapFrame(map);
  std::string svg = "<svg class=\"heatmap\" viewBox=\"0 0 " + at(width) + " " + at(height) +
                    "\" width=\"" + at(width) + "\" height=\"" + at(height) +
                    "\" role=\"img\" aria-label=\"" + escaped(map.title) + "\">";
  for (size_t column = 0; column < map.columns.size(); ++column) {
    const double x = names + kCellWidth * (static_cast<double>(column) + 0.5);
    svg += "<text transform=\"translate(" + at(x) + " " + at(heads - 8) + ") rotate(-45)\">" +
           escaped(map.columns[column]) + "</text>";
  }
  for (size_t row = 0; row < map.rows.size(); ++row) {
    const double y = heads + kCellHeight * static_cast<double>(row);
    svg += text_at(names - 8, y + 15, "end", map.rows[row]);
    for (size_t column = 0; column < map.columns.size(); ++column) {
      const double value = map.values[row][column];
      if (std::isnan(value)) continue;
      const double x = names + kCellWidth * static_cast<double>(column);
      const double strength = std::min(std::fabs(value) / map.cap, 1.0);
      svg += "<g><title>" +
             escaped(map.rows[row] + map.between + map.columns[column] + map.behind + ": " +
                     significant(value, 4)) +
             "</title><rect class=\"" + (value >= 0 ? "gain" : "loss") + "\" x=\"" + at(x) +
             "\" y=\"" + at(y) + "\" width=\"" + at(kCellWidth - 1) + "\" height=\"" +
             at(kCellHeight - 1) + "\" fill-opacity=\"" + fixed(0.85 * strength, 2) + "\"/>" +
             text_at(x + kCellWidth / 2,
                     y + 15,
                     "middle",
                     std::fabs(value) >= 1000 ? significant(value, 2) : fixed(value, map.digits)) +
             "</g>";
    }
  }
  return svg + "</svg>";
}

}  // namespace flightdeck::study
