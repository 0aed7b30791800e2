// SPDX-License-Identifier: MIT
// Changes of runs as server-sent events.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "serve/http.h"
#include "serve/run_shelf.h"
#include "serve/wire.h"

namespace flightdeck::serve {

constexpr int64_t kEventStreams = 256;
constexpr int64_t kHeartbeatMs = 15000;

class Events {
 public:
  Events(const RunShelf& shelf, wire::ServerInfo server)
      : shelf_(shelf), server_(std::move(server)) {}

  // Returns an endless answer: what happened since the Last-Event-ID of the request if that is of
  // this server, else everything; then what happens. Refuses if too many are open.
  Response answer(const Request& request);
  int64_t open_streams() const { return *open_; }

 private:
  const RunShelf& shelf_;
  const wire::ServerInfo server_;
  std::shared_ptr<std::atomic<int64_t>> open_ = std::make_shared<std::atomic<int64_t>>(0);
};

}  // namespace flightdeck::serve
