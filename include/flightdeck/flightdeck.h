// SPDX-License-Identifier: MIT
// The whole public API.
#pragma once

#include "flightdeck/coverage.h"
#include "flightdeck/gradients.h"
#include "flightdeck/operator.h"
#include "flightdeck/parameters.h"
#include "flightdeck/spectra.h"
#include "flightdeck/watch.h"
