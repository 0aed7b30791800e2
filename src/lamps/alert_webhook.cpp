// SPDX-License-Identifier: MIT
// The smallest client of HTTP/1.1 that can post one text and read one status.
#include <cerrno>
#include <cstring>
#include <memory>
#include <netdb.h>
#include <poll.h>
#include <stdexcept>
#include <sys/socket.h>
#include <unistd.h>

#include "lamps/alert_ways.h"

namespace flightdeck::lamps {
namespace {

const std::string kScheme = "http://";

[[noreturn]] void refuse(const std::string& url, const std::string& why) {
  throw std::invalid_argument("alerts: options.webhook is '" + url + "', " + why);
}

class Connection {
 public:
  explicit Connection(int descriptor) : descriptor_(descriptor) {}
  ~Connection() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

// Returns true if the descriptor may be read or written before the deadline.
bool is_ready(int descriptor, short events, AlertDeadline deadline) {
  pollfd asked{descriptor, events, 0};
  for (;;) {
    const int found = ::poll(&asked, 1, milliseconds_until(deadline));
    if (found < 0 && errno == EINTR) continue;
    return found > 0;
  }
}

bool connects(int descriptor, const addrinfo& address, AlertDeadline deadline) {
  if (::connect(descriptor, address.ai_addr, address.ai_addrlen) == 0) return true;
  if (errno != EINPROGRESS) return false;
  if (!is_ready(descriptor, POLLOUT, deadline)) {
    errno = ETIMEDOUT;
    return false;
  }
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size);
  errno = error;
  return error == 0;
}

bool sends(int descriptor, const std::string& text, AlertDeadline deadline) {
  size_t sent = 0;
  while (sent < text.size()) {
    if (!is_ready(descriptor, POLLOUT, deadline)) return false;
    const ssize_t now = ::send(descriptor, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (now < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (now <= 0) return false;
    sent += static_cast<size_t>(now);
  }
  return true;
}

// Returns the first line of the answer, or an empty text if none comes in time.
std::string first_line(int descriptor, AlertDeadline deadline) {
  constexpr size_t kMost = 1000;
  std::string text;
  char bytes[256];
  while (text.size() < kMost && text.find('\n') == std::string::npos) {
    if (!is_ready(descriptor, POLLIN, deadline)) return "";
    const ssize_t got = ::recv(descriptor, bytes, sizeof bytes, 0);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) break;
    text.append(bytes, static_cast<size_t>(got));
  }
  return text.substr(0, text.find_first_of("\r\n"));
}

std::string request_of(const WebAddress& address, const std::string& json) {
  const bool is_ipv6 = address.host.find(':') != std::string::npos;
  const std::string host = is_ipv6 ? "[" + address.host + "]" : address.host;
  return "POST " + address.path + " HTTP/1.1\r\nHost: " + host + ":" + address.port +
         "\r\nContent-Type: application/json\r\nUser-Agent: flightdeck\r\nConnection: close\r\n"
         "Content-Length: " +
         std::to_string(json.size()) + "\r\n\r\n" + json;
}

std::string posted(int descriptor, const std::string& request, AlertDeadline deadline) {
  if (!sends(descriptor, request, deadline)) return "took nothing in time";
  const std::string line = first_line(descriptor, deadline);
  if (line.rfind("HTTP/1.", 0) != 0 || line.size() < 12) return "gave no answer in time";
  return line[9] == '2' ? "" : "answered '" + line.substr(9, 60) + "'";
}

}  // namespace

WebAddress web_address(const std::string& url) {
  if (url.rfind(kScheme, 0) != 0) {
    refuse(url, "which does not begin with http://; for https use a command such as curl");
  }
  for (const char c : url) {
    if (static_cast<unsigned char>(c) <= ' ' || c == 0x7f) {
      refuse(url, "which has a blank or a control character; write it as %20");
    }
  }
  const size_t slash = std::min(url.find('/', kScheme.size()), url.size());
  std::string host = url.substr(kScheme.size(), slash - kScheme.size());
  WebAddress address;
  address.path = slash == url.size() ? "/" : url.substr(slash);
  if (host.find('@') != std::string::npos) refuse(url, "which has a user's name; leave it out");
  address.port = "80";
  const size_t bracket = host.find(']');
  const size_t colon = host.rfind(':');
  if (colon != std::string::npos && (bracket == std::string::npos || colon > bracket)) {
    address.port = host.substr(colon + 1);
    host.resize(colon);
  }
  if (bracket != std::string::npos && host.size() > 2) host = host.substr(1, host.size() - 2);
  address.host = host;
  const bool is_number = !address.port.empty() && address.port.size() <= 5 &&
                         address.port.find_first_not_of("0123456789") == std::string::npos;
  if (host.empty() || !is_number) refuse(url, "which is not http://HOST[:PORT][/PATH]");
  return address;
}

std::string post_json(const WebAddress& address, const std::string& json, AlertDeadline deadline) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(address.host.c_str(), address.port.c_str(), &wanted, &found);
  if (error != 0) return std::string("has no address: ") + ::gai_strerror(error);
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> all(found, &::freeaddrinfo);
  std::string failure = "cannot be reached";
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    const Connection connection(::socket(
        one->ai_family, one->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, one->ai_protocol));
    if (connection.descriptor() < 0) continue;
    if (connects(connection.descriptor(), *one, deadline)) {
      return posted(connection.descriptor(), request_of(address, json), deadline);
    }
    failure = std::string("cannot be reached: ") + std::strerror(errno);
  }
  return failure;
}

}  // namespace flightdeck::lamps
