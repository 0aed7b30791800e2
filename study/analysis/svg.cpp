// SPDX-License-Identifier: MIT
#include "study/analysis/svg.h"

#include <algorithm>
#include <cmath>

#include "study/analysis/number_text.h"
#include "study/analysis/thinning.h"
#include "study/analysis/ticks.h"

namespace flightdeck::study {
namespace {

constexpr double kWidth = 360, kHeight = 230;
constexpr double kLeft = 46, kRight = 10, kTop = 24, kBottom = 38;
constexpr double kInnerWidth = kWidth - kLeft - kRight;
constexpr double kInnerHeight = kHeight - kTop - kBottom;

std::string at(double value) {
  std::string text = fixed(value, 1);
  if (text.size() > 2 && text.compare(text.size() - 2, 2, ".0") == 0) text.resize(text.size() - 2);
  return text;
}

// Coordinates inside the panel's frame.
class Scale {
 public:
  explicit Scale(const Panel& panel) : panel_(panel) {}

  double x(double value) const {
    const double low = position(panel_.x_low), high = position(panel_.x_high);
    return high > low ? (position(value) - low) / (high - low) * kInnerWidth : kInnerWidth / 2;
  }
  double y(double value) const {
    const double share = (value - panel_.y_low) / (panel_.y_high - panel_.y_low);
    // Far outside the frame is out of sight; browsers do not take numbers of any size.
    return std::clamp((1 - share) * kInnerHeight, -2000.0, 2000.0);
  }

 private:
  double position(double value) const { return panel_.is_log_x ? std::log10(value) : value; }
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
  const size_t step = std::max<size_t>(1, line.x.size() / 5);
  // Neighbours in the legend begin at different places, so that marks do not cover each other.
  for (size_t k = static_cast<size_t>(line.look.colour) % step; k < line.x.size(); k += step) {
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

std::string drawn(const Line& line, const Scale& scale, bool is_stepped) {
  return "<g class=\"" + class_of(line.look) + "\"><title>" + escaped(line.hint) + "</title>" +
         band(line, scale) + "<path class=\"line" + (line.look.is_dashed ? " dashed" : "") +
         "\" d=\"" + path_of(line, scale, is_stepped) + "\"/>" + markers(line, scale) + "</g>";
}

std::string text_at(double x, double y, const std::string& anchor, const std::string& text) {
  return "<text x=\"" + at(x) + "\" y=\"" + at(y) + "\" text-anchor=\"" + anchor + "\">" +
         escaped(text) + "</text>";
}

std::string power_of_ten(double value) {
  const double exponent = std::log10(value);
  return std::fabs(exponent - std::round(exponent)) < 1e-6 ? "1e" + fixed(exponent, 0)
                                                           : significant(value, 2);
}

std::string x_axis(const Panel& panel, const Scale& scale) {
  std::string svg;
  const auto mark = [&](double value, const std::string& text) {
    const double x = kLeft + scale.x(value);
    svg += "<line class=\"grid\" x1=\"" + at(x) + "\" x2=\"" + at(x) + "\" y1=\"" + at(kTop) +
           "\" y2=\"" + at(kTop + kInnerHeight) + "\"/>" +
           text_at(x, kTop + kInnerHeight + 14, "middle", text);
  };
  if (!panel.x_names.empty()) {
    for (size_t k = 0; k < panel.x_names.size(); ++k) {
      mark(static_cast<double>(k), panel.x_names[k]);
    }
  } else if (panel.is_log_x) {
    for (const double x : log_ticks(panel.x_low, panel.x_high, 5)) mark(x, power_of_ten(x));
  } else {
    for (const double x : ticks(panel.x_low, panel.x_high, 5)) mark(x, significant(x, 6));
  }
  return svg + text_at(kLeft + kInnerWidth / 2, kHeight - 5, "middle", panel.x_label);
}

std::string y_axis(const Panel& panel, const Scale& scale) {
  std::string svg;
  for (const double value : ticks(panel.y_low, panel.y_high, 5)) {
    const double y = kTop + scale.y(value);
    svg += "<line class=\"grid\" x1=\"" + at(kLeft) + "\" x2=\"" + at(kLeft + kInnerWidth) +
           "\" y1=\"" + at(y) + "\" y2=\"" + at(y) + "\"/>" +
           text_at(kLeft - 5, y + 4, "end", significant(value, 6));
  }
  return svg;
}

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

std::string svg_panel(const Panel& panel, size_t points) {
  const Scale scale(panel);
  std::string title = panel.title;
  if (!panel.y_label.empty()) title += (title.empty() ? "" : ": ") + panel.y_label;
  std::string svg = "<svg class=\"panel\" viewBox=\"0 0 " + at(kWidth) + " " + at(kHeight) +
                    "\" role=\"img\" aria-label=\"" + escaped(title) + "\">";
  svg += "<text class=\"head\" x=\"" + at(kLeft) + "\" y=\"14\">" + escaped(title) + "</text>";
  svg += x_axis(panel, scale) + y_axis(panel, scale);
  // A frame of its own cuts off what leaves the limits.
  svg += "<svg x=\"" + at(kLeft) + "\" y=\"" + at(kTop) + "\" width=\"" + at(kInnerWidth) +
         "\" height=\"" + at(kInnerHeight) + "\" overflow=\"hidden\">";
  if (std::isfinite(panel.level)) {
    const std::string y = at(scale.y(panel.level));
    svg += "<line class=\"level\" x1=\"0\" x2=\"" + at(kInnerWidth) + "\" y1=\"" + y + "\" y2=\"" +
           y + "\"/>";
  }
  for (const Line& line : panel.lines) {
    svg += drawn(thinned(line, points), scale, panel.is_stepped);
  }
  return svg + "</svg></svg>";
}

std::string svg_key(const Look& look) {
  std::string svg = "<svg class=\"key " + class_of(look) +
                    "\" viewBox=\"0 0 28 10\" width=\"28\" height=\"10\" aria-hidden=\"true\">"
                    "<path class=\"line" +
                    (look.is_dashed ? std::string(" dashed") : "") + "\" d=\"M0 5H28\"/>";
  if (look.marker != 0) svg += "<g class=\"mark\">" + marker(look, 14, 5) + "</g>";
  return svg + "</svg>";
}

std::string svg_heatmap(const Heatmap& map) {
  constexpr double kCellWidth = 40, kCellHeight = 22, kNames = 150, kHeads = 120;
  const double width = kNames + kCellWidth * static_cast<double>(map.columns.size()) + 60;
  const double height = kHeads + kCellHeight * static_cast<double>(map.rows.size()) + 4;
  std::string svg = "<svg class=\"heatmap\" viewBox=\"0 0 " + at(width) + " " + at(height) +
                    "\" width=\"" + at(width) + "\" height=\"" + at(height) +
                    "\" role=\"img\" aria-label=\"" + escaped(map.title) + "\">";
  for (size_t column = 0; column < map.columns.size(); ++column) {
    const double x = kNames + kCellWidth * (static_cast<double>(column) + 0.5);
    svg += "<text transform=\"translate(" + at(x) + " " + at(kHeads - 8) + ") rotate(-45)\">" +
           escaped(map.columns[column]) + "</text>";
  }
  for (size_t row = 0; row < map.rows.size(); ++row) {
    const double y = kHeads + kCellHeight * static_cast<double>(row);
    svg += text_at(kNames - 8, y + 15, "end", map.rows[row]);
    for (size_t column = 0; column < map.columns.size(); ++column) {
      const double value = map.values[row][column];
      if (std::isnan(value)) continue;
      const double x = kNames + kCellWidth * static_cast<double>(column);
      const double strength = std::min(std::fabs(value) / map.cap, 1.0);
      svg += "<g><title>" +
             escaped(map.rows[row] + " untuned to " + map.columns[column] +
                     " tuned: " + significant(value, 4)) +
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
