// SPDX-License-Identifier: MIT
// The texts of a RunInfo and of its quantities: one list each for the journal, the database and the
// wire.
#pragma once

#include <array>
#include <string>
#include <type_traits>

#include "flightdeck/reading.h"

namespace flightdeck::record {

template <typename Text>
struct NamedText {
  const char* name;
  Text* text;
};

// Lists the texts in the order of the journal, which is part of its format: a new text comes last
// and needs a new version. `Info` is RunInfo, const or not, or the wire's struct that names its
// fields alike.
template <typename Info>
auto run_texts(Info& info) {
  using Named = NamedText<std::remove_reference_t<decltype((info.host))>>;
  return std::array<Named, 8>{{{"flightdeck_version", &info.flightdeck_version},
                               {"libtorch_version", &info.libtorch_version},
                               {"host", &info.host},
                               {"command", &info.command},
                               {"device", &info.device},
                               {"grouping", &info.grouping},
                               {"plan", &info.plan},
                               {"coverage", &info.coverage}}};
}

// Lists the texts of a quantity in the order of the journal and of the database's columns.
// `Quantity` is QuantityInfo, const or not, or the wire's struct that names its fields alike.
template <typename Quantity>
auto quantity_texts(Quantity& quantity) {
  return std::array{
      &quantity.name, &quantity.summary, &quantity.due, &quantity.settings, &quantity.cost};
}

// Copies the texts from one struct to the other.
template <typename From, typename To>
void copy_run_texts(const From& from, To& to) {
  const auto source = run_texts(from);
  const auto target = run_texts(to);
  for (size_t k = 0; k < source.size(); ++k) *target[k].text = *source[k].text;
}

template <typename From, typename To>
void copy_quantity_texts(const From& from, To& to) {
  const auto source = quantity_texts(from);
  const auto target = quantity_texts(to);
  for (size_t k = 0; k < source.size(); ++k) *target[k] = *source[k];
}

}  // namespace flightdeck::record
