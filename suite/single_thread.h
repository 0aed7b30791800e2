// SPDX-License-Identifier: MIT
// How many threads LibTorch's ops take when this thread calls them.
#pragma once

namespace flightdeck::suite {

/// Lets ops that this thread calls run on it alone; other threads keep their number, which
/// at::set_num_threads would change for them too. Does nothing without OpenMP.
void use_single_thread();

}  // namespace flightdeck::suite
