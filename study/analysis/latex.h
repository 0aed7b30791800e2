// SPDX-License-Identifier: MIT
// The report as LaTeX: booktabs tables and PGFPlots figures, each a file to \input, and one
// document with all.
#pragma once

#include <map>
#include <string>

#include "study/analysis/report.h"

namespace flightdeck::study {

// Returns contents by file name: analysis.tex, which pdflatex compiles; colours.tex, which a
// document of one's own reads in its preamble; and one file for each table and figure.
std::map<std::string, std::string> to_latex(const AnalysisReport& report);

// Returns the text with LaTeX's special characters made harmless.
std::string latex_text(const std::string& text);

std::string latex_table(const ShownTable& table);
std::string latex_figure(const Figure& figure, const std::vector<std::string>& competitors);
std::string latex_heatmap(const Heatmap& map);

}  // namespace flightdeck::study
