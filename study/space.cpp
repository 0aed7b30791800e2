// SPDX-License-Identifier: MIT
#include "study/space.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "src/base/exact_text.h"
#include "src/base/random.h"

namespace flightdeck::study {
namespace {

using Kind = Search::Kind;

constexpr std::array<const char*, 4> kKinds = {"fixed", "log-uniform", "whole-uniform", "choices"};

// Returns what the distribution is about: the value itself or its distance from 1.
double drawn_of(const Search& search, double value) {
  return search.is_complement ? rounded(1.0 - value, 6) : value;
}

Dimension refined(Dimension dimension, const std::vector<Values>& best) {
  Search& search = dimension.search;
  if (search.kind == Kind::kFixed) return dimension;
  std::vector<double> drawn;
  for (const Values& values : best) drawn.push_back(drawn_of(search, values.at(dimension.name)));
  const auto [low, high] = std::minmax_element(drawn.begin(), drawn.end());
  search.low = *low;
  search.high = *high;
  std::vector<double>& choices = search.choices;
  const auto is_outside = [&search](double choice) {
    return choice < search.low || choice > search.high;
  };
  choices.erase(std::remove_if(choices.begin(), choices.end(), is_outside), choices.end());
  return dimension;
}

}  // namespace

double Dimension::value_at(double share) const {
  const auto& [kind, low, high, is_complement, choices] = search;
  if (kind == Kind::kFixed) return value;
  if (kind == Kind::kOneOf) {
    return choices.at(static_cast<size_t>(share * static_cast<double>(choices.size())));
  }
  if (kind == Kind::kWholeUniform) return low + std::floor(share * (high - low + 1.0));
  const double drawn = std::clamp(rounded(low * std::pow(high / low, share), 6), low, high);
  return is_complement ? rounded(1.0 - drawn, 15) : drawn;
}

Values defaults(const Space& space) {
  Values values;
  for (const Dimension& dimension : space) values[dimension.name] = dimension.value;
  return values;
}

std::vector<Values> draws(const Space& space,
                          int64_t count,
                          uint64_t seed,
                          const std::string& purpose) {
  Generator generator = generator_of(seed, purpose);
  std::vector<Values> samples;
  for (int64_t k = 0; k < count; ++k) {
    Values values;
    for (const Dimension& dimension : space) {
      const bool is_drawn = dimension.search.kind != Kind::kFixed;
      values[dimension.name] = dimension.value_at(is_drawn ? uniform(generator) : 0.0);
    }
    samples.push_back(values);
  }
  return samples;
}

Space refined(const Space& space, const std::vector<Values>& best) {
  Space box;
  for (const Dimension& dimension : space) box.push_back(refined(dimension, best));
  return box;
}

const char* to_string(Kind kind) { return kKinds.at(static_cast<size_t>(kind)); }

Kind kind_from(const std::string& text) {
  const auto found = std::find(kKinds.begin(), kKinds.end(), text);
  if (found == kKinds.end()) throw std::runtime_error("there is no distribution '" + text + "'");
  return static_cast<Kind>(found - kKinds.begin());
}

}  // namespace flightdeck::study
