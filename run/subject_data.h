// SPDX-License-Identifier: MIT
// Generated data of FaultBench's problems: pictures and texts of which nothing has to be fetched.
#pragma once

#include "run/fault.h"

namespace flightdeck::run {

enum class Pattern { kSpots, kWaves, kEdges };

// Images in which each class is a sum of a few waves, spots or edges; samples are scaled, noisy and
// standardised.
struct Images {
  int64_t classes = 10, side = 8, count = 2000;
  Pattern pattern = Pattern::kSpots;
  double noise = 1.0;
};

// A chain of letters, each of which has a few likely followers.
struct Text {
  int64_t letters = 24, length = 16, count = 1200;
  double sharpness = 2.5;
};

// Fill in the samples, those that are held out, and the number of classes.
void fill_images(FaultyTraining& training, const Images& images);
void fill_text(FaultyTraining& training, const Text& text);

}  // namespace flightdeck::run
