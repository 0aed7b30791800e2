// SPDX-License-Identifier: MIT
// The addresses of the server and what each answers; docs/wire_format.md describes them.
#pragma once

#include <functional>

#include "serve/events.h"
#include "serve/http.h"
#include "serve/metrics.h"
#include "serve/run_shelf.h"
#include "serve/wire.h"

namespace flightdeck::serve {

class Api {
 public:
  Api(RunShelf& shelf, wire::ServerInfo server, std::function<ServerCounts()> counts);

  // Answers a request. Throws `Refused`.
  Response answer(const Request& request);
  int64_t event_streams() const { return events_.open_streams(); }

 private:
  Response server(const Request& request) const;
  Response runs(const Request& request) const;
  Response run(const Request& request) const;
  Response lamps(const Request& request) const;
  Response diagnosis(const Request& request) const;
  Response series(const Request& request) const;
  Response frames(const Request& request) const;
  Response csv(const Request& request) const;
  Response events(const Request& request);
  Response labels(const Request& request);
  Response metrics(const Request& request) const;

  RunShelf& shelf_;
  const wire::ServerInfo server_;
  const std::function<ServerCounts()> counts_;
  mutable LampCounts lamp_counts_;
  Events events_;
};

}  // namespace flightdeck::serve
