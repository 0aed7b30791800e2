// SPDX-License-Identifier: MIT
// TCP sockets with deadlines.
#pragma once

#include <atomic>
#include <chrono>
#include <string>
#include <string_view>

namespace flightdeck::serve {

// Holds a descriptor and closes it at the end.
class Socket {
 public:
  explicit Socket(int descriptor = -1) : descriptor_(descriptor) {}
  ~Socket();
  Socket(Socket&& other) noexcept;
  Socket& operator=(Socket&& other) noexcept;

  int descriptor() const { return descriptor_; }
  bool is_valid() const { return descriptor_ >= 0; }

 private:
  int descriptor_;
};

// Starts listening. Throws std::runtime_error that names host, port, reason and remedy. Port 0
// takes a free one.
Socket listen_on(const std::string& host, int port);
int port_of(const Socket& listening);

// Asks the system for enough descriptors for all connections and the files read for them. What a
// shell allows at first is too little.
void allow_many_descriptors();

using Milliseconds = std::chrono::milliseconds;

enum class Wait { kReady, kTimeout, kClosed };

// Waits until there is something to read; returns kClosed if the socket is broken.
Wait wait_to_read(const Socket& socket, Milliseconds at_most);

// Sends all bytes. Returns false if the client is gone, or takes nothing for `patience`.
bool send_all(const Socket& socket, std::string_view bytes, Milliseconds patience);

// Returns true if the other side has closed its end.
bool has_hung_up(const Socket& socket);

// Ends the connection so that the last answer still arrives: what the client goes on sending is
// taken and dropped for a moment, a megabyte at most. A close alone would take the answer away
// from it.
void end_gently(const Socket& socket, Milliseconds at_most);

}  // namespace flightdeck::serve
