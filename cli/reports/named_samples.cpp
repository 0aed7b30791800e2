// SPDX-License-Identifier: MIT
#include "cli/reports/named_samples.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "cli/text/numbers.h"

namespace flightdeck::cli {
namespace {

// Returns the lists that become columns, in their order; any other list stays a list.
const std::vector<std::pair<std::string, std::string>>& known_columns() {
  static const std::vector<std::pair<std::string, std::string>> columns = {
      {"ids", "sample"},
      {"samples", "place in batch"},
      {"labels", "label"},
      {"predictions", "predicted"},
      {"norms", "gradient norm"},
      {"losses", "loss"}};
  return columns;
}

// Writes places and classes as whole numbers; whatever a record holds instead is shown as it is.
std::string cell(double value) {
  const bool is_whole =
      std::isfinite(value) && std::abs(value) < 1e15 && value == std::floor(value);
  return is_whole ? std::to_string(static_cast<int64_t>(value)) : short_number(value);
}

}  // namespace

std::vector<NamedSamples> take_named_samples(std::vector<LastReading>& lists) {
  // Keyed by quantity and step: what was recorded at another step belongs to other samples.
  std::map<std::pair<std::string, int64_t>, std::map<std::string, const std::vector<double>*>>
      tables;
  const auto field_of = [](const LastReading& list) { return list.reading.field; };
  for (const LastReading& list : lists) {
    tables[{list.reading.quantity, list.step}][field_of(list)] = &list.reading.list;
  }
  std::vector<NamedSamples> named;
  for (const auto& [key, fields] : tables) {
    const auto key_field = fields.count("ids") != 0 ? fields.find("ids") : fields.find("samples");
    if (key_field == fields.end()) continue;
    const size_t count = key_field->second->size();
    NamedSamples one{key.first, key.second, std::vector<std::vector<std::string>>(count + 1)};
    for (const auto& [field, heading] : known_columns()) {
      const auto found = fields.find(field);
      if (found == fields.end() || found->second->size() != count) continue;
      one.rows[0].push_back(heading);
      for (size_t k = 0; k < count; ++k) one.rows[k + 1].push_back(cell((*found->second)[k]));
    }
    named.push_back(std::move(one));
  }
  const auto is_named = [&](const LastReading& list) {
    const auto& columns = known_columns();
    const bool is_column = std::any_of(columns.begin(), columns.end(), [&](const auto& column) {
      return column.first == field_of(list);
    });
    return is_column && std::any_of(named.begin(), named.end(), [&](const NamedSamples& one) {
             return one.quantity == list.reading.quantity && one.step == list.step;
           });
  };
  // A terminal cannot show what samples look like.
  const auto is_picture = [](const LastReading& list) {
    return list.reading.quantity == "sample_pictures";
  };
  const auto is_taken = [&](const LastReading& list) { return is_named(list) || is_picture(list); };
  lists.erase(std::remove_if(lists.begin(), lists.end(), is_taken), lists.end());
  return named;
}

}  // namespace flightdeck::cli
