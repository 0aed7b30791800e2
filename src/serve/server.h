// SPDX-License-Identifier: MIT
// The dashboard's server: shelf, guard and addresses behind one port.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "serve/http_front.h"

namespace flightdeck::serve {

struct ServerOptions {
  std::string folder = "runs";
  std::string host = "127.0.0.1";
  int port = 0;       // 0 takes a free one
  std::string token;  // needed unless the host is a loopback address
  int64_t refresh_ms = 500;
  bool edit = false;       // runs can be labelled; without it the server writes nothing
  bool in_frames = false;  // pages of this machine, such as notebooks, may show it in a frame
  HttpLimits limits;
};

class Server {
 public:
  // Throws std::invalid_argument if the folder or the token will not do.
  explicit Server(ServerOptions options);
  ~Server();  // stops

  // Throws if the port cannot be had.
  void start();
  int port() const;
  // Returns "http://127.0.0.1:8080/", with the token if there is one.
  std::string address() const;
  // Returns how many runs of the folder have been found so far.
  int64_t run_count() const;
  bool has_looked() const;  // at all of it
  // Ends reading and all connections, and does so soon whatever lies in the folder.
  void stop();

  class State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace flightdeck::serve
