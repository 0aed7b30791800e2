// SPDX-License-Identifier: MIT
// A reader of Python's is its own or one that a lamp lends.
#pragma once

#include "bind.h"

namespace flightdeck::python {

using LentReader = Borrowed<RunReader>;

}  // namespace flightdeck::python
