// SPDX-License-Identifier: MIT
// A figure or matrix as one SVG file with its own style, title and legend: readable on its own and
// in converters that know no variables of CSS.
#pragma once

#include <string>

#include "study/figure.h"

namespace flightdeck::study {

// The legend names every line once; lines without a name are not in it.
// `text` stands below the title in as many lines as it takes; empty: none.
std::string svg_document(const Figure& figure, const std::string& text = "");
std::string svg_document(const Heatmap& map);

}  // namespace flightdeck::study
