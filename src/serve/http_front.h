// SPDX-License-Identifier: MIT
// Listens, reads requests and writes answers: the one place that knows sockets and cpp-httplib.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "serve/http.h"

namespace flightdeck::serve {

struct HttpLimits {
  // These are open at a time, each with a thread. One more takes the place of one that waits for a
  // request, strangers' first, or gets 503 if all are being answered.
  int64_t connections = 512;
  int64_t requests = 1000;      // on one connection
  int64_t idle_ms = 5000;       // between two requests of a connection
  int64_t head_ms = 10000;      // from the first byte of a request to the last of its head
  int64_t patience_ms = 10000;  // without the client taking a byte of its answer
};

class HttpFront {
 public:
  // The handler is called from many threads at a time. What it throws becomes status 500.
  using Handler = std::function<Response(const Request&)>;

  // With `in_frames` pages of this machine may show the answers in a frame.
  explicit HttpFront(Handler handler, HttpLimits limits = {}, bool in_frames = false);
  ~HttpFront();  // stops

  // Begins to listen and to answer. Port 0 takes a free one. Throws where that is impossible.
  void start(const std::string& host, int port);
  int port() const;
  int64_t connections() const;
  // Ends all connections and waits for their threads. Streams see a closed outlet.
  void stop();

  class State;

 private:
  std::unique_ptr<State> state_;
};

// Returns false in a build without cpp-httplib; then `start` throws.
bool has_http_front();

}  // namespace flightdeck::serve
