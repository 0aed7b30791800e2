// SPDX-License-Identifier: MIT
// Figures as PGFPlots group plots.
#include <algorithm>

#include "study/analysis/latex.h"
#include "study/analysis/number_text.h"
#include "study/analysis/thinning.h"

namespace flightdeck::study {
namespace {

constexpr size_t kPoints = 40;  // of a line: pdfTeX's memory is small

std::string colour_name(const Look& look) {
  if (look.colour == Look::kMuted) return "flightdeckmuted";
  if (look.colour == Look::kAccent) return "flightdeckaccent";
  return "flightdeck" + std::to_string(look.colour);
}

const char* mark_name(int marker) {
  return marker == 1 ? "*" : marker == 2 ? "square*" : "triangle*";
}

// Limits the height, because TeX's numbers overflow far outside the frame.
std::string height(const Panel& panel, double value) {
  if (panel.is_log_y) return significant(std::clamp(value, panel.y_low / 10, panel.y_high * 10), 6);
  const double range = panel.y_high - panel.y_low;
  return significant(std::clamp(value, panel.y_low - 2 * range, panel.y_high + 2 * range), 6);
}

std::string point(const Panel& panel, double x, double y) {
  return "(" + significant(x, 6) + "," + height(panel, y) + ")";
}

std::string band(const Panel& panel, const Line& line) {
  if (line.low.empty()) return "";
  std::string text = "\\addplot[draw=none, mark=none, fill=" + colour_name(line.look) +
                     ", fill opacity=0.15] coordinates {";
  for (size_t k = 0; k < line.x.size(); ++k) text += point(panel, line.x[k], line.high[k]);
  for (size_t k = line.x.size(); k-- > 0;) text += point(panel, line.x[k], line.low[k]);
  return text + "} -- cycle;\n";
}

std::string bars(const Panel& panel, const Line& line) {
  std::string text;
  for (size_t k = 0; k < line.x.size(); ++k) {
    text += "\\addplot[" + colour_name(line.look) +
            ", line width=0.9pt, mark=-, mark size=2pt] coordinates {" +
            point(panel, line.x[k], line.low[k]) + point(panel, line.x[k], line.high[k]) + "};\n";
  }
  return text;
}

std::string drawn(const Panel& panel, const Line& line) {
  if (line.style == Line::Style::kBars) return bars(panel, line);
  std::string style = colour_name(line.look);
  if (line.style == Line::Style::kThin) style += ", line width=0.3pt, opacity=0.6";
  if (line.look.colour == Look::kMuted) style += ", line width=0.3pt, opacity=0.5";
  if (line.look.colour == Look::kAccent) style += ", line width=1.6pt";
  if (line.look.is_dashed) style += ", dashed";
  if (panel.is_stepped) style += ", const plot";
  if (line.style == Line::Style::kMarks) {
    style += std::string(", only marks, mark=") + mark_name(line.look.marker) +
             ", mark size=1.4pt, mark options={solid}";
  } else if (line.look.marker == 0) {
    style += ", mark=none";
  } else {
    style += std::string(", mark=") + mark_name(line.look.marker) +
             ", mark size=1.1pt, mark options={solid}, mark repeat=" +
             std::to_string(std::max<size_t>(1, line.x.size() / 5)) +
             ", mark phase=" + std::to_string(1 + line.look.colour);
  }
  std::string text = "\\addplot[" + style + "] coordinates {";
  for (size_t k = 0; k < line.x.size(); ++k) text += point(panel, line.x[k], line.y[k]);
  return text + "};\n";
}

std::string names_of_ticks(const Panel& panel) {
  std::string places, names;
  for (size_t k = 0; k < panel.x_names.size(); ++k) {
    places += (k == 0 ? "" : ",") + std::to_string(k);
    names += (k == 0 ? "" : ",") + latex_text(panel.x_names[k]);
  }
  return ", xtick={" + places + "}, xticklabels={" + names + "}";
}

std::string panel_text(const Panel& panel) {
  std::string text =
      "\\nextgroupplot[flightdeck, title={" + latex_text(panel.title) + "}, xlabel={" +
      latex_text(panel.x_label) + "}, ylabel={" + latex_text(panel.y_label) +
      "}, xmin=" + significant(panel.x_low, 6) + ", xmax=" + significant(panel.x_high, 6) +
      ", ymin=" + significant(panel.y_low, 6) + ", ymax=" + significant(panel.y_high, 6);
  if (panel.is_log_x) text += ", xmode=log";
  if (panel.is_log_y) text += ", ymode=log";
  if (!panel.x_names.empty()) text += names_of_ticks(panel);
  if (panel.x_names.size() > 4) text += ", xticklabel style={rotate=30, anchor=north east}";
  text += "]\n";
  if (std::isfinite(panel.level)) {
    text += "\\addplot[black!45, mark=none, line width=0.9pt] coordinates {" +
            point(panel, panel.x_low, panel.level) + point(panel, panel.x_high, panel.level) +
            "};\n";
  }
  for (size_t k = 0; k < panel.x_tops.size(); ++k) {
    text += "\\node[font=\\tiny, anchor=north] at (axis cs:" + std::to_string(k) + "," +
            significant(panel.y_high, 6) + ") {" + latex_text(panel.x_tops[k]) + "};\n";
  }
  for (const Line& line : panel.lines) {
    const Line few = thinned(line, kPoints);
    text += (few.style == Line::Style::kBars ? "" : band(panel, few)) + drawn(panel, few);
  }
  return text;
}

std::string key(const Look& look) {
  std::string text = "\\tikz[baseline=-0.6ex]{\\draw[" + colour_name(look) + ", line width=0.9pt" +
                     (look.is_dashed ? ", dashed" : "") + "] (0,0) -- (0.55,0);";
  if (look.marker != 0) {
    text += " \\draw[" + colour_name(look) +
            ", mark size=1.4pt] plot[mark=" + mark_name(look.marker) + "] coordinates {(0.275,0)};";
  }
  return text + "}";
}

}  // namespace

std::string latex_figure(const Figure& figure, const std::vector<std::string>& competitors) {
  const size_t columns = std::min<size_t>(figure.panels.size(), 3);
  const size_t rows = columns == 0 ? 0 : (figure.panels.size() + columns - 1) / columns;
  const bool is_single = columns == 1;
  std::string text =
      "\\begin{figure}[!htbp]\\centering\n\\begin{tikzpicture}\n"
      "\\begin{groupplot}[group style={group size=" +
      std::to_string(columns) + " by " + std::to_string(rows) +
      ", horizontal sep=1.3cm, vertical sep=1.5cm}, width=" +
      (is_single ? (figure.is_interactive ? "0.98" : "0.6") : "0.36") + "\\linewidth, height=" +
      (is_single  ? "8cm"
       : rows > 2 ? "4.6cm"
                  : "5.6cm") +
      "]\n";
  for (const Panel& panel : figure.panels) text += panel_text(panel);
  text += "\\end{groupplot}\n\\end{tikzpicture}\n";
  if (!figure.legend.empty()) {
    text += "\n{\\scriptsize ";
    for (const std::string& name : figure.legend) {
      text += "\\mbox{" + key(look_of(competitors, name)) + "~" + latex_text(name) + "}\\quad\n";
    }
    text += "\\par}\n";
  }
  return text + "\\caption{" + latex_text(figure.title + ". " + figure.caption) +
         "}\n\\end{figure}\n";
}

}  // namespace flightdeck::study
