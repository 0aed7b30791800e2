// SPDX-License-Identifier: MIT
#include "study/analysis/thinning.h"

namespace flightdeck::study {

Line thinned(const Line& line, size_t count) {
  // Every mark is a run of its own; of a line the shape is kept.
  const bool is_line = line.style == Line::Style::kLine || line.style == Line::Style::kThin;
  if (!is_line || line.x.size() <= count || count < 2) return line;
  Line few{line.name, line.look, {}, {}, {}, {}, line.hint, line.style, line.pick};
  const size_t last = line.x.size() - 1;
  for (size_t k = 0; k < count; ++k) {
    const size_t at = k * last / (count - 1);
    few.x.push_back(line.x[at]);
    few.y.push_back(line.y[at]);
    if (line.low.empty()) continue;
    few.low.push_back(line.low[at]);
    few.high.push_back(line.high[at]);
  }
  return few;
}

}  // namespace flightdeck::study
