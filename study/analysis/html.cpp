// SPDX-License-Identifier: MIT
#include "study/analysis/html.h"

#include <algorithm>
#include <cctype>

#include "study/analysis/number_text.h"
#include "study/analysis/svg.h"

namespace flightdeck::study {
namespace {

constexpr const char* kStyle = R"css(
:root { color-scheme: light dark; --bg: #ffffff; --fg: #1c1f23; --quiet: #5f6670; --rule: #d9dde2;
  --card: #f6f7f9; --best: 0, 114, 178; --gain: #e69f00; --loss: #0072b2; --warn: #fff4d6; }
@media (prefers-color-scheme: dark) { :root { --bg: #14171b; --fg: #e6e8eb; --quiet: #9aa3ad;
  --rule: #333a42; --card: #1c2026; --best: 79, 168, 220; --gain: #d9930a; --loss: #2b7fb8;
  --warn: #3a3115; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1360px; padding: 1rem; background: var(--bg); color: var(--fg);
  font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; margin: 0.5rem 0; }
h2 { font-size: 1.25rem; margin: 2.2rem 0 0.5rem; border-bottom: 1px solid var(--rule); }
h3 { font-size: 1rem; margin: 1.4rem 0 0.3rem; }
/* Tables and figures of one panel stand side by side where there is room, other figures take the whole width. */
.parts { display: flex; flex-wrap: wrap; align-items: flex-start; gap: 0 2.5rem; }
.parts > * { flex: 1 1 100%; min-width: 0; }
.parts > .table { flex: 0 1 auto; min-width: min(100%, 17rem); max-width: 100%; }
.parts > .single { flex: 1 1 560px; max-width: 860px; }
.parts > details { order: 1; }
.parts > .table > .caption { width: 0; min-width: 100%; }
p.caption { color: var(--quiet); margin: 0.2rem 0 0.6rem; max-width: 70em; font-size: 0.9rem; }
nav a, a { color: inherit; } nav { display: flex; flex-wrap: wrap; gap: 0.2rem 1rem; }
ul.facts { display: flex; flex-wrap: wrap; gap: 0.4rem; list-style: none; padding: 0; margin: 0.6rem 0; }
ul.facts li { background: var(--card); border: 1px solid var(--rule); border-radius: 1rem;
  padding: 0.1rem 0.7rem; }
.warnings { background: var(--warn); border-radius: 0.4rem; padding: 0.5rem 0.8rem; margin: 0.8rem 0; }
.warnings ul { margin: 0.2rem 0; padding-left: 1.2rem; }
.wide { overflow-x: auto; }
table { border-collapse: separate; border-spacing: 0; font-size: 0.87rem; font-variant-numeric: tabular-nums; }
th, td { padding: 0.2rem 0.45rem; text-align: right; white-space: nowrap;
  border-bottom: 1px solid var(--rule); }
th:first-child, td:first-child { text-align: left; position: sticky; left: 0; background: var(--bg); }
th.words, td.words { text-align: left; }
td.best { font-weight: 600; }
summary { cursor: pointer; font-weight: 600; margin: 0.6rem 0; }
.legend { display: flex; flex-wrap: wrap; gap: 0.1rem 1rem; font-size: 0.85rem; margin: 0.3rem 0; }
.legend span { white-space: nowrap; }
.key { vertical-align: middle; margin-right: 0.35rem; overflow: visible; }
.panels { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 340px), 1fr));
  gap: 0.6rem; }
.panels.two { grid-template-columns: repeat(auto-fit, minmax(min(100%, 500px), 1fr)); }
.panels.one { overflow-x: auto; } .panels.one svg.panel { min-width: 520px; }
svg text { font: 11px system-ui, sans-serif; fill: var(--quiet); }
svg text.head { font-weight: 600; fill: var(--fg); }
svg.panel { width: 100%; height: auto; background: var(--bg); }
svg.heatmap text { font-size: 13px; fill: var(--fg); }
.grid { stroke: var(--rule); stroke-width: 0.6; } .level { stroke: var(--quiet); stroke-width: 1.2; }
.line { fill: none; stroke: currentColor; stroke-width: 1.6; stroke-linejoin: round; }
.dashed { stroke-dasharray: 5 3; }
.band { fill: currentColor; opacity: 0.14; } .mark { fill: currentColor; }
.muted { color: var(--quiet); } .muted .line { stroke-width: 0.7; opacity: 0.35; }
.accent { color: var(--gain); } .accent .line { stroke-width: 3; } .accent .band { opacity: 0.3; }
.line.thin { stroke-width: 0.8; opacity: 0.55; }
.bars { fill: none; stroke: currentColor; stroke-width: 1.8; }
.interactive > input { margin: 0 0.3rem 0 0; vertical-align: middle; }
.interactive > label { margin-right: 1rem; font-size: 0.85rem; white-space: nowrap; cursor: pointer; }
.interactive > .panels { margin-top: 0.4rem; }
.interactive > input:checked ~ .panels g.pick { opacity: 0.12; }
svg g:hover > .line { stroke-width: 3.4; opacity: 1; }
rect.gain { fill: var(--gain); } rect.loss { fill: var(--loss); }
footer { margin: 2.5rem 0 1rem; color: var(--quiet); font-size: 0.85rem; }
)css";

std::string colour_style() {
  std::string light, dark;
  for (size_t k = 0; k < colours().size(); ++k) {
    const std::string name = ".c" + std::to_string(k) + " { color: ";
    light += name + colours()[k].light + "; } ";
    dark += name + colours()[k].dark + "; } ";
  }
  return light + "\n@media (prefers-color-scheme: dark) { " + dark + "}\n";
}

std::string head(const std::string& title, const std::string& caption) {
  return "<h3>" + escaped(title) + "</h3>\n<p class=\"caption\">" + escaped(caption) + "</p>\n";
}

std::string cell_html(const TableCell& cell, bool is_words) {
  std::string html = "<td";
  if (is_words) {
    html += " class=\"words\"";
  } else if (cell.score == 1) {
    html += " class=\"best\"";
  }
  if (!cell.hint.empty()) html += " title=\"" + escaped(cell.hint) + "\"";
  if (cell.score >= 0) {
    html += " style=\"background: rgba(var(--best), " + fixed(0.36 * cell.score * cell.score, 2) +
            ")\"";
  }
  return html + ">" + escaped(cell.text) + "</td>";
}

std::string body_of(const ShownTable& table) {
  std::string html = "<div class=\"wide\"><table>\n<thead><tr>";
  for (size_t k = 0; k < table.columns.size(); ++k) {
    html += (table.has_words(k) ? "<th class=\"words\">" : "<th>") + escaped(table.columns[k]) +
            "</th>";
  }
  html += "</tr></thead>\n<tbody>\n";
  for (const std::vector<TableCell>& row : table.rows) {
    html += "<tr>";
    for (size_t k = 0; k < row.size(); ++k) html += cell_html(row[k], table.has_words(k));
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

std::string legend(const AnalysisReport& report, const std::vector<std::string>& names) {
  if (names.empty()) return "";
  std::string html = "<div class=\"legend\">";
  for (const std::string& name : names) {
    html += "<span>" + svg_key(look_of(report.competitors, name)) + escaped(name) + "</span> ";
  }
  return html + "</div>\n";
}

// Lets the reader choose names without a script: what is checked stays, all else fades.
std::string chooser(const AnalysisReport& report, const Figure& figure) {
  std::string style, html;
  for (size_t k = 0; k < figure.legend.size(); ++k) {
    const std::string number = std::to_string(k), id = figure.id + "-pick-" + number;
    style += ".interactive > input.i" + number + ":checked ~ .panels g.k" + number +
             " { opacity: 1; }\n.interactive > input.i" + number + ":checked ~ .panels g.k" +
             number + " > .line { stroke-width: 3; }\n";
    html += "<input type=\"checkbox\" class=\"i" + number + "\" id=\"" + escaped(id) +
            "\"/><label for=\"" + escaped(id) + "\">" +
            svg_key(look_of(report.competitors, figure.legend[k])) + escaped(figure.legend[k]) +
            "</label>\n";
  }
  return "<style>" + style + "</style>\n<div class=\"interactive\">\n" + html;
}

std::string body_of(const Figure& figure, const AnalysisReport& report) {
  const size_t count = figure.panels.size();
  std::string html =
      figure.is_interactive ? chooser(report, figure) : legend(report, figure.legend);
  html += std::string("<div class=\"panels") +
          (count == 1   ? " one"
           : count == 2 ? " two"
                        : "") +
          "\">\n";
  // Many lines of many points make a page of many megabytes.
  const size_t points = std::clamp<size_t>(800 / (1 + figure.legend.size()), 50, 200);
  for (const Panel& panel : figure.panels) {
    html += svg_panel(panel, points, std::min<size_t>(3, figure.panels.size())) + "\n";
  }
  return html + (figure.is_interactive ? "</div>\n</div>\n" : "</div>\n");
}

std::string body_of(const Heatmap& map) {
  return "<div class=\"wide\">" + svg_heatmap(map) + "</div>\n";
}

struct PartHtml {
  const AnalysisReport& report;

  std::string operator()(const ShownTable& table) const {
    return framed(table, body_of(table), " class=\"table\"");
  }
  std::string operator()(const Figure& figure) const {
    return framed(
        figure, body_of(figure, report), figure.panels.size() == 1 ? " class=\"single\"" : "");
  }
  std::string operator()(const Heatmap& map) const { return framed(map, body_of(map)); }

  template <typename Part>
  static std::string framed(const Part& part, const std::string& body, const char* kind = "") {
    if (!part.is_folded) {
      return "<div id=\"" + escaped(part.id) + "\"" + kind + ">\n" +
             head(part.title, part.caption) + body + "</div>\n";
    }
    return "<details id=\"" + escaped(part.id) + "\"><summary>" + escaped(part.title) +
           "</summary>\n<p class=\"caption\">" + escaped(part.caption) + "</p>\n" + body +
           "</details>\n";
  }
};

std::string warnings_html(const std::vector<std::string>& warnings) {
  if (warnings.empty()) return "";
  std::string html = "<div class=\"warnings\"><strong>Before you read on</strong><ul>\n";
  for (const std::string& warning : warnings) html += "<li>" + escaped(warning) + "</li>\n";
  return html + "</ul></div>\n";
}

std::string page_head(const AnalysisReport& report) {
  std::string html =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>" +
      escaped(report.title) + "</title>\n<style>" + kStyle + colour_style() +
      "</style>\n</head>\n<body>\n<h1>" + escaped(report.title) + "</h1>\n<ul class=\"facts\">\n";
  for (const std::string& fact : report.facts) html += "<li>" + escaped(fact) + "</li>\n";
  html += "</ul>\n" + warnings_html(report.warnings) + "<nav>";
  for (const Section& section : report.sections) {
    html += "<a href=\"#" + escaped(section.id) + "-section\">" + escaped(section.title) + "</a> ";
  }
  return html + "</nav>\n";
}

}  // namespace

std::string to_html(const AnalysisReport& report) {
  std::string html = page_head(report);
  for (const Section& section : report.sections) {
    html += "<section id=\"" + escaped(section.id) + "-section\">\n<h2>" + escaped(section.title) +
            "</h2>\n<div class=\"parts\">\n";
    for (const ReportPart& part : section.parts) html += std::visit(PartHtml{report}, part);
    html += "</div>\n</section>\n";
  }
  return html +
         "<footer>Diverged runs count with their untrained scores. A triangle at the edge of a "
         "figure "
         "marks where a line leaves it. What each number means is said "
         "in docs/analysis.md; all numbers are in the CSV files.</footer>\n</body>\n</html>\n";
}

}  // namespace flightdeck::study
