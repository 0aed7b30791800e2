// SPDX-License-Identifier: MIT
// Panels and matrices as inline SVG. Colours are classes that the page's style gives meaning to.
#pragma once

#include <string>

#include "study/figure.h"

namespace flightdeck::study {

// Makes a text safe inside elements and attributes.
std::string escaped(const std::string& text);

// Thins long lines to `points`, the last one kept. At most three panels stand in a row.
std::string svg_panel(const Panel& panel, size_t points, size_t panels_in_row);
struct PanelSize {
  double width, height;
};
PanelSize svg_panel_size(size_t panels_in_row);
PanelSize svg_heatmap_size(const Heatmap& map);
std::string svg_heatmap(const Heatmap& map);
// Draws a short piece of a line for a legend.
std::string svg_key(const Look& look);

}  // namespace flightdeck::study
