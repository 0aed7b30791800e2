// SPDX-License-Identifier: MIT
#include "study/analysis/write.h"

#include <filesystem>

#include "src/base/whole_file.h"
#include "study/analysis/html.h"
#include "study/analysis/latex.h"
#include "study/analysis/records.h"

namespace flightdeck::study {

const std::vector<std::string>& analysis_formats() {
  static const std::vector<std::string> all = {"html", "csv", "latex"};
  return all;
}

std::vector<std::string> write_analysis(const Analysis& analysis,
                                        const std::string& folder,
                                        const std::set<std::string>& formats) {
  std::vector<std::string> written;
  const auto write = [&](const std::string& name, const std::string& content) {
    written.push_back((std::filesystem::path(folder) / name).string());
    replace_file(written.back(), content);
  };
  const AnalysisReport report = make_report(analysis);
  if (formats.count("html") != 0) write("index.html", to_html(report));
  if (formats.count("csv") != 0) {
    for (const Records& records : all_records(analysis)) {
      write(records.name + ".csv", to_csv(records));
    }
  }
  if (formats.count("latex") != 0) {
    for (const auto& [name, content] : to_latex(report)) write(name, content);
  }
  return written;
}

}  // namespace flightdeck::study
