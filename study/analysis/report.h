// SPDX-License-Identifier: MIT
// The analysis as tables and figures, before they become HTML or LaTeX. Texts are plain.
#pragma once

#include <cmath>
#include <string>
#include <variant>
#include <vector>

#include "study/analysis/analysis.h"
#include "study/figure.h"

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

// Gives each optimizer a look by its place among all: markers beyond the eighth, dashes for
// baselines.
Look look_of(const std::vector<std::string>& competitors, const std::string& competitor);

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
