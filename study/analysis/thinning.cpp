// SPDX-License-Identifier: MIT
#include "study/analysis/thinning.h"

namespace flightdeck::study {

Line thinned(const Line& line, size_t count) {
  if (line.x.size() <= count || count < 2) return line;
  Line few{line.name, line.look, {}, {}, {}, {}, line.hint};
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
