// SPDX-License-Identifier: MIT
#include "suite/find_entry.h"

#include <algorithm>
#include <numeric>

#include <c10/util/Exception.h>

namespace flightdeck::suite {
namespace {

// Counts insertions, deletions and replacements that turn one text into the other.
size_t edit_distance(const std::string& from, const std::string& to) {
  std::vector<size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= from.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= to.size(); ++j) {
      const size_t replaced = diagonal + (from[i - 1] == to[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

void refuse_name(const std::string& name,
                 const std::vector<std::string>& names,
                 const std::string& kind) {
  std::string all, nearest;
  size_t least = std::max<size_t>(2, name.size() / 3) + 1;  // farther is no typing error
  for (const std::string& entry : names) {
    all += (all.empty() ? "" : ", ") + entry;
    const size_t distance = edit_distance(name, entry);
    if (distance < least) {
      least = distance;
      nearest = entry;
    }
  }
  const std::string offer = nearest.empty() ? "" : "did you mean '" + nearest + "'? ";
  TORCH_CHECK_VALUE(
      false, "suite: there is no ", kind, " '", name, "'; ", offer, "choose one of ", all);
}

}  // namespace flightdeck::suite
