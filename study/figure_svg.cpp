// SPDX-License-Identifier: MIT
#include "study/figure_svg.h"

#include <algorithm>
#include <sstream>

#include "study/analysis/number_text.h"
#include "study/analysis/svg.h"

namespace flightdeck::study {
namespace {

constexpr double kHead = 26, kLegendLine = 18, kSubtitleLine = 15, kLetter = 6.4, kMargin = 8;
constexpr size_t kPoints = 400;

constexpr const char* kStyle =
    "text { font: 11px 'DejaVu Sans', sans-serif; fill: #5f6670; } "
    "text.head { font-weight: 600; fill: #1c1f23; } text.name { fill: #1c1f23; } "
    ".heatmap text { font-size: 12px; fill: #1c1f23; } "
    ".grid { stroke: #d9dde2; stroke-width: 0.6; } "
    ".level { stroke: #5f6670; stroke-width: 1.2; stroke-dasharray: 2 2; } "
    ".line { fill: none; stroke: currentColor; stroke-width: 1.6; stroke-linejoin: round; } "
    ".dashed { stroke-dasharray: 5 3; } .band { fill: currentColor; opacity: 0.14; } "
    ".mark { fill: currentColor; } .muted { color: #5f6670; } "
    ".muted .line { stroke-width: 0.7; opacity: 0.45; } "
    ".accent { color: #e69f00; } .accent .line { stroke-width: 3; } .accent .band { opacity: 0.3; "
    "} "
    "rect.gain { fill: #e69f00; } rect.loss { fill: #0072b2; } ";

std::string opened(double width, double height, const std::string& title) {
  std::string colour_classes;
  for (size_t k = 0; k < colours().size(); ++k) {
    colour_classes += ".c" + std::to_string(k) + " { color: " + colours()[k].light + "; } ";
  }
  const std::string w = fixed(width, 0), h = fixed(height, 0);
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + w + "\" height=\"" + h +
         "\" viewBox=\"0 0 " + w + " " + h + "\">\n<title>" + escaped(title) + "</title>\n<style>" +
         kStyle + colour_classes + "</style>\n<rect width=\"" + w + "\" height=\"" + h +
         "\" fill=\"#ffffff\"/>\n<text class=\"head\" x=\"" + fixed(kMargin, 0) +
         "\" y=\"17\" style=\"font-size: 13px\">" + escaped(title) + "</text>\n";
}

std::string placed(double x, double y, double width, double height, const std::string& svg) {
  return "<svg x=\"" + fixed(x, 1) + "\" y=\"" + fixed(y, 1) + "\" width=\"" + fixed(width, 1) +
         "\" height=\"" + fixed(height, 1) + "\">" + svg + "</svg>\n";
}

std::vector<const Line*> named_once(const Figure& figure) {
  std::vector<const Line*> found;
  for (const Panel& panel : figure.panels) {
    for (const Line& line : panel.lines) {
      const auto same = [&](const Line* other) { return other->name == line.name; };
      if (line.name.empty() || std::any_of(found.begin(), found.end(), same)) continue;
      found.push_back(&line);
    }
  }
  return found;
}

// A legend or a subtitle, which stands above the panels.
struct Head {
  std::string svg;
  double height = 0;
};

// Puts keys and names side by side, in as many lines as the width asks for, from `top` on.
Head legend_of(const Figure& figure, double width, double top) {
  const std::vector<const Line*> lines = named_once(figure);
  Head legend;
  if (lines.empty()) return legend;
  double x = kMargin, y = top;
  for (const Line* line : lines) {
    const double room = 34 + kLetter * static_cast<double>(line->name.size()) + 16;
    if (x + room > width && x > kMargin) {
      x = kMargin;
      y += kLegendLine;
    }
    legend.svg += placed(x, y + 2, 28, 10, svg_key(line->look)) + "<text class=\"name\" x=\"" +
                  fixed(x + 34, 1) + "\" y=\"" + fixed(y + 11, 1) + "\">" + escaped(line->name) +
                  "</text>\n";
    x += room;
  }
  legend.height = y + kLegendLine - top;
  return legend;
}

// Breaks a text into lines of so many letters; a longer word has a line of its own.
std::vector<std::string> lines_of(const std::string& text, size_t letters) {
  std::vector<std::string> lines;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (lines.empty() || lines.back().size() + 1 + word.size() > letters) {
      lines.push_back(word);
    } else {
      lines.back() += " " + word;
    }
  }
  return lines;
}

Head subtitle_of(const std::string& text, double width) {
  const auto letters = static_cast<size_t>((width - 2 * kMargin) / kLetter);
  Head subtitle;
  for (const std::string& line : lines_of(text, letters)) {
    subtitle.height += kSubtitleLine;
    subtitle.svg += "<text class=\"name\" x=\"" + fixed(kMargin, 0) + "\" y=\"" +
                    fixed(kHead + subtitle.height - 4, 0) + "\">" + escaped(line) + "</text>\n";
  }
  return subtitle;
}

}  // namespace

std::string svg_document(const Figure& figure, const std::string& text) {
  // A single panel is as wide as one of two, because a whole row would be too flat.
  const size_t columns =
      std::clamp<size_t>(figure.panels.size(), 1, figure.panels.size() == 4 ? 2 : 3);
  const size_t scale = std::max<size_t>(columns, 2);
  const PanelSize size = svg_panel_size(scale);
  const size_t rows = (figure.panels.size() + columns - 1) / columns;
  const double width = std::max(static_cast<double>(columns) * size.width,
                                kLetter * 1.25 * static_cast<double>(figure.title.size())) +
                       2 * kMargin;
  const Head subtitle = subtitle_of(text, width);
  const Head legend = legend_of(figure, width, kHead + subtitle.height);
  const double top = kHead + subtitle.height + legend.height + 4;
  std::string svg =
      opened(width, top + static_cast<double>(rows) * (size.height + kMargin), figure.title) +
      subtitle.svg + legend.svg;
  for (size_t k = 0; k < figure.panels.size(); ++k) {
    svg += placed(kMargin + static_cast<double>(k % columns) * size.width,
                  top + static_cast<double>(k / columns) * (size.height + kMargin),
                  size.width,
                  size.height,
                  svg_panel(figure.panels[k], kPoints, scale));
  }
  return svg + "</svg>\n";
}

std::string svg_document(const Heatmap& map) {
  const PanelSize size = svg_heatmap_size(map);
  const double whole =
      std::max(size.width, kLetter * 1.25 * static_cast<double>(map.title.size())) + 2 * kMargin;
  return opened(whole, kHead + size.height + kMargin, map.title) +
         placed(kMargin, kHead, size.width, size.height, svg_heatmap(map)) + "</svg>\n";
}

}  // namespace flightdeck::study
