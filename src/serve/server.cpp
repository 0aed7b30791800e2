// SPDX-License-Identifier: MIT
#include "serve/server.h"

#include <atomic>
#include <random>

#include "serve/api.h"
#include "serve/guard.h"
#include "serve/run_shelf.h"

namespace flightdeck::serve {

namespace {

std::string new_epoch() {
  std::random_device random;
  std::string text;
  for (int k = 0; k < 16; ++k) text += "0123456789abcdef"[random() & 15];
  return text;
}

wire::ServerInfo server_info(const RunShelf& shelf, const ServerOptions& options) {
  return {wire::kApi,
          FLIGHTDECK_VERSION,
          new_epoch(),
          shelf.folder(),
          options.refresh_ms,
          options.edit};
}

ServerOptions checked(ServerOptions options) {
  check_token(options.host, options.token);
  return options;
}

}  // namespace

class Server::State {
 public:
  explicit State(ServerOptions options)
      : options_(checked(std::move(options))),
        shelf_(options_.folder, options_.refresh_ms),
        guard_(options_.host, options_.token, options_.in_frames),
        api_(shelf_, server_info(shelf_, options_), [this] { return counts(); }),
        front_([this](const Request& request) { return answer(request); },
               options_.limits,
               options_.in_frames) {}
  ~State() { stop(); }

  void start() { front_.start(options_.host, options_.port); }

  void stop() {
    shelf_.stop();  // wakes the streams
    front_.stop();
  }

  int port() const { return front_.port(); }
  int64_t run_count() const { return shelf_.count(); }
  bool has_looked() const { return shelf_.has_looked(); }

  std::string address() const {
    return "http://" + name_of_host(options_.host) + ":" + std::to_string(port()) + "/" +
           (options_.token.empty() ? "" : "?token=" + options_.token);
  }

 private:
  Response answer(const Request& request) {
    ++requests_;
    Response answer;
    try {
      const auto stopped = guard_.stop(request, front_.port());
      answer = stopped ? *stopped : api_.answer(request);
      // The redirection that sets a cookie goes to clients that know the token.
      answer.is_to_stranger = stopped && stopped->status >= 400;
    } catch (const Refused& refused) {
      answer = refused.answer();
    }
    if (answer.status >= 400) ++refused_;
    return answer;
  }

  ServerCounts counts() const {
    return {requests_, refused_, front_.connections(), api_.event_streams()};
  }

  const ServerOptions options_;
  RunShelf shelf_;
  Guard guard_;
  std::atomic<int64_t> requests_{0}, refused_{0};
  Api api_;
  HttpFront front_;  // last: its threads use all of the above
};

Server::Server(ServerOptions options) : state_(std::make_unique<State>(std::move(options))) {}
Server::~Server() = default;
void Server::start() { state_->start(); }
int Server::port() const { return state_->port(); }
std::string Server::address() const { return state_->address(); }
int64_t Server::run_count() const { return state_->run_count(); }
bool Server::has_looked() const { return state_->has_looked(); }
void Server::stop() { state_->stop(); }

}  // namespace flightdeck::serve
