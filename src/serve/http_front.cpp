// SPDX-License-Identifier: MIT
#include "serve/http_front.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <httplib.h>
#include <map>
#include <mutex>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <thread>

#include "serve/request_head.h"
#include "serve/socket.h"

namespace flightdeck::serve {

namespace {

using Clock = std::chrono::steady_clock;

// ---- one connection -----------------------------------------------------------------------------

// Holds a client's socket and what it has sent beyond the current request.
class Connection {
 public:
  Connection(Socket socket, const HttpLimits& limits)
      : socket_(std::move(socket)), limits_(limits) {
    // Head and body of an answer are sent separately, and the second would wait for an
    // acknowledgement.
    const int on = 1;
    ::setsockopt(socket_.descriptor(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    // The kernel would let a client that does not read pile up megabytes.
    const int bytes = 1 << 17;
    ::setsockopt(socket_.descriptor(), SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
  }

  // Returns the next request's head, or nothing if the client is gone or idle for too long.
  std::optional<RequestHead> next_head() {
    if (received_.empty() && !receive(Milliseconds(limits_.idle_ms))) return std::nullopt;
    const auto deadline = Clock::now() + Milliseconds(limits_.head_ms);
    size_t length = 0;
    while ((length = head_length(received_)) == 0) {
      if (received_.size() > kHeadBytes) return refuse(too_large());
      const auto left = std::chrono::duration_cast<Milliseconds>(deadline - Clock::now());
      if (left.count() <= 0) return refuse(too_slow());
      // The time left was rounded down, so one more lets the deadline run out.
      if (!receive(left + Milliseconds(1))) {
        return Clock::now() >= deadline ? refuse(too_slow()) : std::nullopt;
      }
    }
    if (length > kHeadBytes) return refuse(too_large());
    RequestHead head = read_head(std::string_view(received_).substr(0, length));
    received_.erase(0, length);
    return head;
  }

  bool send(std::string_view bytes) {
    return send_all(socket_, bytes, Milliseconds(limits_.patience_ms));
  }
  bool is_open() const { return !has_hung_up(socket_); }
  const Socket& socket() const { return socket_; }

 private:
  static Response too_large() {
    return refusal(431,
                   "the request has more than " + std::to_string(kHeadBytes) + " bytes",
                   "ask for fewer series at once, or for all groups by quantity=NAME");
  }

  Response too_slow() const {
    return refusal(408,
                   "the request took more than " + std::to_string(limits_.head_ms) + " ms to come",
                   "send it at once");
  }

  static std::optional<RequestHead> refuse(Response answer) {
    RequestHead head;
    head.refusal = std::move(answer);
    return head;
  }

  // Appends what has come; returns false if nothing did.
  bool receive(Milliseconds at_most) {
    if (wait_to_read(socket_, at_most) != Wait::kReady) return false;
    std::array<char, 4096> bytes;
    const ssize_t count = ::recv(socket_.descriptor(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (count <= 0) return false;
    received_.append(bytes.data(), static_cast<size_t>(count));
    return true;
  }

  Socket socket_;
  HttpLimits limits_;
  std::string received_;
};

// Shows a connection to the library, which reads one head and may write an answer.
class HeadStream : public httplib::Stream {
 public:
  HeadStream(Connection& connection, std::string head)
      : connection_(connection), head_(std::move(head)) {}

  bool is_readable() const override { return position_ < head_.size(); }
  bool is_writable() const override { return connection_.is_open(); }
  ssize_t read(char* bytes, size_t size) override {
    const size_t count = head_.copy(bytes, size, position_);
    position_ += count;
    return static_cast<ssize_t>(count);
  }
  ssize_t write(const char* bytes, size_t size) override {
    return connection_.send({bytes, size}) ? static_cast<ssize_t>(size) : -1;
  }
  void get_remote_ip_and_port(std::string&, int&) const override {}
  void get_local_ip_and_port(std::string&, int&) const override {}
  socket_t socket() const override { return connection_.socket().descriptor(); }

 private:
  Connection& connection_;
  std::string head_;
  size_t position_ = 0;
};

// Writes a streamed answer to the library.
class SinkOutlet : public Outlet {
 public:
  explicit SinkOutlet(httplib::DataSink& sink) : sink_(sink) {}
  bool write(std::string_view bytes) override {
    // The library ends the answer if nothing is written.
    if (!bytes.empty()) is_good_ = is_good_ && sink_.write(bytes.data(), bytes.size());
    return is_good_;
  }
  bool is_open() const override { return is_good_ && sink_.is_writable(); }
  bool is_good() const { return is_good_; }

 private:
  httplib::DataSink& sink_;
  bool is_good_ = true;
};

// ---- who keeps a connection ---------------------------------------------------------------------

// Counts the open connections. One that waits for its client can be given up for another.
class Slots {
 public:
  explicit Slots(int64_t limit) : limit_(limit) {}

  // Takes a place. Returns false if all are taken and none can be given up.
  bool take(int descriptor) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (static_cast<int64_t>(held_.size()) - given_up_ >= limit_ && !give_one_up()) return false;
    held_[descriptor] = {};
    return true;
  }

  // Marks the client of a connection as one that may ask.
  void know(int descriptor) {
    const std::lock_guard<std::mutex> lock(mutex_);
    held_[descriptor].is_known = true;
  }

  // Says whether the server now waits for the client or answers it.
  void set_waiting(int descriptor, bool is_waiting) {
    const std::lock_guard<std::mutex> lock(mutex_);
    held_[descriptor].is_waiting = is_waiting;
    held_[descriptor].since = Clock::now();
  }

  void leave(int descriptor) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto held = held_.find(descriptor);
    given_up_ -= held->second.is_given_up ? 1 : 0;
    held_.erase(held);
    left_.notify_all();
  }

  int64_t count() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return static_cast<int64_t>(held_.size());
  }

  // Closes all connections and waits until everybody has left.
  void end() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (const auto& [descriptor, held] : held_) ::shutdown(descriptor, SHUT_RDWR);
    left_.wait(lock, [this] { return held_.empty(); });
  }

 private:
  struct Held {
    Clock::time_point since = Clock::now();
    bool is_known = false, is_waiting = true, is_given_up = false;
  };

  // Gives up a client that may not ask before others, and of those the one that has waited longest.
  bool give_one_up() {
    auto chosen = held_.end();
    for (auto held = held_.begin(); held != held_.end(); ++held) {
      if (!held->second.is_waiting || held->second.is_given_up) continue;
      const auto rank = [](const Held& one) { return std::pair(one.is_known, one.since); };
      if (chosen == held_.end() || rank(held->second) < rank(chosen->second)) chosen = held;
    }
    if (chosen == held_.end()) return false;
    ::shutdown(chosen->first, SHUT_RDWR);
    chosen->second.is_given_up = true;
    ++given_up_;
    return true;
  }

  const int64_t limit_;
  mutable std::mutex mutex_;
  std::condition_variable left_;
  std::map<int, Held> held_;  // by descriptor
  int64_t given_up_ = 0;      // that have not left yet
};

// ---- between the library's types and ours -------------------------------------------------------

// A request knows its connection by this header. Clients cannot send it, because request_head.h
// lets no such header through.
constexpr const char* kDescriptor = "Flightdeck-Descriptor";

int descriptor_in(const httplib::Request& request) {
  return std::stoi(request.get_header_value(kDescriptor));
}

Request request_of(const httplib::Request& from) {
  Request request;
  request.method = from.method;
  request.path = from.path;
  request.parameters.insert(from.params.begin(), from.params.end());
  request.headers.insert(from.headers.begin(), from.headers.end());
  return request;
}

void fill(httplib::Response& response, Response answer) {
  response.status = answer.status;
  for (const auto& [name, value] : answer.headers) response.set_header(name, value);
  if (answer.stream) {
    response.set_chunked_content_provider(
        answer.type, [stream = std::move(answer.stream)](size_t, httplib::DataSink& sink) {
          SinkOutlet outlet(sink);
          try {
            if (!stream(outlet)) sink.done();
          } catch (const std::exception&) {
            // The status has been sent; without its last chunk the client sees that the answer is
            // cut off.
            return false;
          }
          return outlet.is_good();
        });
    return;
  }
  response.body = std::move(answer.body);
  if (!response.body.empty()) response.set_header("Content-Type", answer.type);
}

// Returns the bytes of an answer to something that is no valid request.
std::string text_of(const Response& answer) {
  std::string text = "HTTP/1.1 " + std::to_string(answer.status) + " Refused\r\n";
  const auto add = [&text](const std::string& name, const std::string& value) {
    text += name + ": " + value + "\r\n";
  };
  for (const auto& [name, value] : strict_headers()) add(name, value);
  for (const auto& [name, value] : answer.headers) add(name, value);
  add("Content-Type", answer.type);
  add("Content-Length", std::to_string(answer.body.size()));
  add("Connection", "close");
  return text + "\r\n" + answer.body;
}

}  // namespace

// ---- all connections ----------------------------------------------------------------------------

// The library parses heads and writes answers. Accepting is done here: its own loop has a backlog
// of 5, ends at the first failing accept, and shares a port that another server has.
class HttpFront::State : private httplib::Server {
 public:
  State(HttpFront::Handler handler, HttpLimits limits, bool in_frames)
      : handler_(std::move(handler)), limits_(limits), slots_(limits.connections) {
    const auto headers = strict_headers(in_frames);
    set_default_headers(httplib::Headers(headers.begin(), headers.end()));
    set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      Response answer = answer_to(request_of(request));
      if (!answer.is_to_stranger) slots_.know(descriptor_in(request));
      fill(response, std::move(answer));
      return HandlerResponse::Handled;
    });
  }
  ~State() override { end(); }

  void begin(const std::string& host, int port) {
    allow_many_descriptors();
    listening_ = listen_on(host, port);
    port_ = port_of(listening_);
    svr_sock_ = listening_.descriptor();  // streams of the library end when this is taken away
    accepting_ = std::thread([this] { accept_all(); });
  }

  void end() {
    svr_sock_ = INVALID_SOCKET;
    if (listening_.is_valid()) ::shutdown(listening_.descriptor(), SHUT_RDWR);
    if (accepting_.joinable()) accepting_.join();
    slots_.end();
    listening_ = Socket();
  }

  int bound_port() const { return port_; }

  int64_t open_connections() const { return slots_.count(); }

 private:
  bool is_over() const { return svr_sock_ == INVALID_SOCKET; }

  Response answer_to(const Request& request) const {
    try {
      return handler_(request);
    } catch (const Refused& refused) {
      return refused.answer();
    } catch (const std::exception& error) {
      return refusal(500, error.what(), "look at the terminal of flightdeck serve, or try again");
    }
  }

  void accept_all() {
    while (!is_over()) {
      Socket socket(::accept4(listening_.descriptor(), nullptr, nullptr, SOCK_CLOEXEC));
      if (is_over()) return;
      if (socket.is_valid()) {
        admit(std::move(socket));
      } else {
        // Descriptors or memory have run out, or the client went away; others will be served.
        std::this_thread::sleep_for(Milliseconds(10));
      }
    }
  }

  void admit(Socket socket) {
    const int descriptor = socket.descriptor();
    if (!slots_.take(descriptor)) return turn_away(socket);
    try {
      std::thread([this, held = std::make_shared<Socket>(std::move(socket)), descriptor] {
        serve(std::move(*held), descriptor);
      }).detach();
    } catch (const std::system_error&) {
      slots_.leave(descriptor);
    }
  }

  static void turn_away(const Socket& socket) {
    const Response answer =
        refusal(503, "too many connections are open", "close some pages of this server");
    send_all(socket, text_of(answer), Milliseconds(0));
  }

  void serve(Socket socket, int descriptor) {
    Connection connection(std::move(socket), limits_);
    try {
      for (int64_t k = 1; k <= limits_.requests && !is_over(); ++k) {
        if (!serve_one(connection, k == limits_.requests)) break;
      }
    } catch (const std::exception&) {
      // Memory has run out: this connection ends, the others go on.
    }
    slots_.set_waiting(descriptor, true);
    end_gently(connection.socket(), Milliseconds(is_over() ? 0 : 500));
    // This comes before the descriptor is closed, because the next connection may get the same.
    slots_.leave(descriptor);
  }

  // Serves one request. Returns false if the connection is over.
  bool serve_one(Connection& connection, bool is_last) {
    const int descriptor = connection.socket().descriptor();
    slots_.set_waiting(descriptor, true);
    std::optional<RequestHead> head = connection.next_head();
    slots_.set_waiting(descriptor, false);
    if (!head) return false;
    if (head->refusal) {
      connection.send(text_of(*head->refusal));
      return false;
    }
    HeadStream stream(connection, std::move(head->text));
    bool is_closed = false, is_understood = false;
    const bool is_written =
        process_request(stream, is_last, is_closed, [&](httplib::Request& request) {
          is_understood = true;
          request.set_header(kDescriptor, std::to_string(descriptor));
        });
    return is_written && is_understood && !is_closed;
  }

  HttpFront::Handler handler_;
  HttpLimits limits_;
  Socket listening_;
  int port_ = 0;
  std::thread accepting_;
  Slots slots_;
};

HttpFront::HttpFront(Handler handler, HttpLimits limits, bool in_frames)
    : state_(std::make_unique<State>(std::move(handler), limits, in_frames)) {}
HttpFront::~HttpFront() = default;
void HttpFront::start(const std::string& host, int port) { state_->begin(host, port); }
int HttpFront::port() const { return state_->bound_port(); }
int64_t HttpFront::connections() const { return state_->open_connections(); }
void HttpFront::stop() { state_->end(); }

bool has_http_front() { return true; }

}  // namespace flightdeck::serve
