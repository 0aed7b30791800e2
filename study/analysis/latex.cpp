// SPDX-License-Identifier: MIT
#include "study/analysis/latex.h"

#include <algorithm>
#include <cctype>

#include "study/analysis/number_text.h"

namespace flightdeck::study {
namespace {

// Shrinks a table that is wider than the page.
constexpr const char* kFitted =
    "\\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%\n";

std::string shaded(const TableCell& cell) {
  const std::string text = latex_text(cell.text);
  if (!(cell.score >= 0)) return text;
  const int strength = static_cast<int>(36 * cell.score * cell.score);
  return "\\cellcolor{flightdeckbest!" + std::to_string(strength) + "}" +
         (cell.score == 1 ? "\\textbf{" + text + "}" : text);
}

std::string colours_file() {
  std::string text =
      "% Colours and styles of the figures. Needs, in this order:\n"
      "% \\usepackage[table]{xcolor} \\usepackage{graphicx} \\usepackage{booktabs}\n"
      "% \\usepackage{pgfplots} \\usepgfplotslibrary{groupplots} \\pgfplotsset{compat=1.16}\n";
  for (size_t k = 0; k < colours().size(); ++k) {
    text += "\\definecolor{flightdeck" + std::to_string(k) + "}{HTML}{" +
            std::string(colours()[k].light + 1) + "}\n";
    std::transform(text.end() - 8, text.end() - 2, text.end() - 8, [](unsigned char c) {
      return static_cast<char>(std::toupper(c));
    });
  }
  return text +
         "\\definecolor{flightdeckmuted}{HTML}{9A9A9A}\n"
         "\\definecolor{flightdeckaccent}{HTML}{E69F00}\n"
         "\\definecolor{flightdeckbest}{HTML}{0072B2}\n"
         "\\definecolor{flightdeckgain}{HTML}{E69F00}\n"
         "\\definecolor{flightdeckloss}{HTML}{0072B2}\n"
         "\\pgfplotsset{flightdeck/.style={grid=major, grid style={black!10}, axis line "
         "style={black!40},\n"
         "  tick label style={font=\\scriptsize}, label style={font=\\scriptsize},\n"
         "  title style={font=\\footnotesize, yshift=-1ex}, scaled ticks=false,\n"
         "  every axis plot/.append style={line width=0.7pt, line join=round}}}\n";
}

std::string file_name(const std::string& id) {
  std::string name;
  for (const char c : id) {
    name += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' ? c : '-';
  }
  return name + ".tex";
}

std::string document(
    const AnalysisReport& report,
    const std::vector<std::pair<std::string, std::vector<std::string>>>& sections) {
  std::string text =
      "\\documentclass[10pt,a4paper,landscape]{article}\n"
      "\\usepackage[margin=1.8cm]{geometry}\n"
      "\\usepackage[utf8]{inputenc}\n\\usepackage[table]{xcolor}\n\\usepackage{graphicx}\n"
      "\\usepackage{booktabs}\n\\usepackage{pgfplots}\n\\usepgfplotslibrary{groupplots}\n"
      "\\pgfplotsset{compat=1.16}\n\\input{colours.tex}\n\\begin{document}\n\\section*{" +
      latex_text(report.title) + "}\n\\begin{itemize}\n";
  for (const std::string& fact : report.facts) text += "\\item " + latex_text(fact) + "\n";
  for (const std::string& warning : report.warnings) {
    text += "\\item \\textbf{Note:} " + latex_text(warning) + "\n";
  }
  text += "\\end{itemize}\n";
  for (const auto& [title, files] : sections) {
    text += "\\section*{" + latex_text(title) + "}\n";
    // LaTeX gives up when too many floats wait for their place.
    int waiting = 0;
    for (const std::string& file : files) {
      text += "\\input{" + file + "}\n";
      if (++waiting % 4 == 0) text += "\\clearpage\n";
    }
    text += "\\clearpage\n";
  }
  return text + "\\end{document}\n";
}

}  // namespace

std::string latex_text(const std::string& text) {
  std::string safe;
  for (size_t k = 0; k < text.size(); ++k) {
    const char c = text[k];
    // These two bytes are ± in UTF-8.
    if (c == '\xc2' && k + 1 < text.size() && text[k + 1] == '\xb1') {
      safe += "$\\pm$";
      ++k;
    } else if (std::string("&%$#_{}").find(c) != std::string::npos) {
      safe += std::string("\\") + c;
    } else if (c == '\\') {
      safe += "\\textbackslash{}";
    } else if (c == '~' || c == '^') {
      safe += std::string("\\") + c + "{}";
    } else if (c == '<' || c == '>') {
      safe += std::string("$") + c + "$";
    } else {
      safe += c;
    }
  }
  return safe;
}

std::string latex_table(const ShownTable& table) {
  std::string text = "\\begin{table}[!htbp]\\centering\\footnotesize\n\\caption{" +
                     latex_text(table.title + ". " + table.caption) + "}\\medskip\n" + kFitted +
                     "\\begin{tabular}{";
  for (size_t k = 0; k < table.columns.size(); ++k) text += table.has_words(k) ? "l" : "r";
  text += "}\n\\toprule\n";
  for (size_t k = 0; k < table.columns.size(); ++k) {
    text += (k == 0 ? "" : " & ") + latex_text(table.columns[k]);
  }
  text += " \\\\\n\\midrule\n";
  for (const std::vector<TableCell>& row : table.rows) {
    for (size_t k = 0; k < row.size(); ++k) text += (k == 0 ? "" : " & ") + shaded(row[k]);
    text += " \\\\\n";
  }
  return text + "\\bottomrule\n\\end{tabular}}\n\\end{table}\n";
}

std::string latex_heatmap(const Heatmap& map) {
  std::string text = "\\begin{table}[!htbp]\\centering\\scriptsize\n\\caption{" +
                     latex_text(map.title + ". " + map.caption) +
                     "}\n\\setlength{\\tabcolsep}{3pt}\n" + kFitted + "\\begin{tabular}{r";
  for (size_t k = 0; k < map.columns.size(); ++k) text += "r";
  text += "}\n";
  for (const std::string& column : map.columns) {
    text += " & \\makebox[2.4em][l]{\\quad\\rotatebox{60}{" + latex_text(column) + "}}";
  }
  text += " \\\\\n";
  for (size_t row = 0; row < map.rows.size(); ++row) {
    text += latex_text(map.rows[row]);
    for (const double value : map.values[row]) {
      text += " & ";
      if (std::isnan(value)) continue;
      const int strength = static_cast<int>(85 * std::min(std::fabs(value) / map.cap, 1.0));
      text +=
          std::string("\\cellcolor{flightdeck") + (value >= 0 ? "gain!" : "loss!") +
          std::to_string(strength) + "}" +
          latex_text(std::fabs(value) >= 1000 ? significant(value, 2) : fixed(value, map.digits));
    }
    text += " \\\\\n";
  }
  return text + "\\end{tabular}}\n\\end{table}\n";
}

std::map<std::string, std::string> to_latex(const AnalysisReport& report) {
  std::map<std::string, std::string> files;
  std::vector<std::pair<std::string, std::vector<std::string>>> sections;
  for (const Section& section : report.sections) {
    sections.push_back({section.title, {}});
    for (const ReportPart& part : section.parts) {
      const std::string name = std::visit([](const auto& any) { return file_name(any.id); }, part);
      if (const auto* table = std::get_if<ShownTable>(&part)) files[name] = latex_table(*table);
      if (const auto* map = std::get_if<Heatmap>(&part)) files[name] = latex_heatmap(*map);
      if (const auto* figure = std::get_if<Figure>(&part)) {
        files[name] = latex_figure(*figure, report.competitors);
      }
      sections.back().second.push_back(name);
    }
  }
  files["colours.tex"] = colours_file();
  files["analysis.tex"] = document(report, sections);
  return files;
}

}  // namespace flightdeck::study
