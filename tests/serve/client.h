// SPDX-License-Identifier: MIT
// A served folder, and a client that says exactly what it is told to say.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "flightdeck/record.h"
#include "serve/server.h"
#include "serve/socket.h"

namespace flightdeck::tests {

// A temporary folder with a server that looks at it every 20 ms.
class ServedFolder {
 public:
  explicit ServedFolder(const std::function<void(serve::ServerOptions&)>& change = {});
  ~ServedFolder();

  const std::string& path() const { return path_; }
  int port() const { return server_->port(); }
  serve::Server& server() { return *server_; }
  // Stops the server and starts another one on the same folder and port.
  void restart();
  // Records steps 0 to `steps` - 1 of loss = 1 / (1 + step) and finishes.
  void add_run(const std::string& id, int64_t steps = 3) const;

 private:
  std::string path_;
  serve::ServerOptions options_;
  std::unique_ptr<serve::Server> server_;
};

struct Reply {
  int status = 0;                              // 0 if there was none
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
};

// What takes longer has failed. The thread sanitizer makes all that waits tenfold slower.
#ifdef __SANITIZE_THREAD__
constexpr std::chrono::seconds kPatience{200};
#else
constexpr std::chrono::seconds kPatience{20};
#endif

// One connection.
class Client {
 public:
  explicit Client(int port);

  // False if the server has hung up.
  bool send(std::string_view bytes);
  // Says that nothing more will be sent.
  void close_sending();
  // The next answer.
  Reply reply();
  // Reads on until `is_enough` likes all that came since the last answer; false after the time.
  bool read_until(const std::function<bool(const std::string&)>& is_enough,
                  std::chrono::milliseconds at_most = kPatience);
  // Reads until the server hangs up; false after the time.
  bool is_hung_up_within(std::chrono::milliseconds at_most);
  const std::string& received() const { return received_; }
  void clear() { received_.clear(); }

 private:
  bool receive(std::chrono::milliseconds at_most);  // false if nothing comes any more
  std::string dechunked();

  serve::Socket socket_;
  std::string received_;
  bool is_over_ = false;
};

using HeaderLines = std::vector<std::string>;  // "Origin: null"

// A request with a Host header, unless `lines` have one, on a connection of its own.
Reply get(int port,
          const std::string& target,
          const HeaderLines& lines = {},
          const std::string& method = "GET");

// Asks for `target` until the body of the answer contains `text`; the last answer.
Reply get_until(int port, const std::string& target, const std::string& text);

// Sends the request for the event stream and reads the head of the answer.
std::unique_ptr<Client> open_events(int port, const std::string& last_event_id = "");

}  // namespace flightdeck::tests
