// SPDX-License-Identifier: MIT
#include "run/run_observer.h"

namespace flightdeck::run {

void RunObserver::started(const RunFacts& /*facts*/) {}
void RunObserver::step_done(int64_t /*step*/, const std::function<BatchScore()>& /*score*/) {}
void RunObserver::evaluation_begins(int64_t /*step*/) {}
void RunObserver::evaluation_done(int64_t /*step*/, const Scores& /*scores*/) {}
void RunObserver::note(const Note& /*note*/) {}
void RunObserver::finding(const Finding& /*finding*/) {}
void RunObserver::intervened(int64_t /*step*/, const std::string& /*what*/) {}
void RunObserver::warning(const RunWarning& /*warning*/) {}
void RunObserver::ended(const RunEnd& /*end*/) {}

}  // namespace flightdeck::run
