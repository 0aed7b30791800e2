// SPDX-License-Identifier: MIT
// The whole public API, but for flightdeck/custom_function.h, which brings LibTorch's own header of
// custom functions.
#pragma once

#include "flightdeck/batch.h"
#include "flightdeck/check_rule.h"
#include "flightdeck/cockpit.h"
#include "flightdeck/coverage.h"
#include "flightdeck/curvature.h"
#include "flightdeck/curvature_coverage.h"
#include "flightdeck/gradients.h"
#include "flightdeck/grouping.h"
#include "flightdeck/histogram.h"
#include "flightdeck/kronecker.h"
#include "flightdeck/layout.h"
#include "flightdeck/needs.h"
#include "flightdeck/operator.h"
#include "flightdeck/parameters.h"
#include "flightdeck/products.h"
#include "flightdeck/quantity.h"
#include "flightdeck/reading.h"
#include "flightdeck/record.h"
#include "flightdeck/rule.h"
#include "flightdeck/schedule.h"
#include "flightdeck/settings.h"
#include "flightdeck/spectra.h"
#include "flightdeck/vivit.h"
#include "flightdeck/watch.h"
