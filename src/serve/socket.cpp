// SPDX-License-Identifier: MIT
#include "serve/socket.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdexcept>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace flightdeck::serve {

namespace {

using Clock = std::chrono::steady_clock;

// The kernel holds so many connections until they are accepted.
constexpr int kBacklog = 128;

int left_until(Clock::time_point deadline) {
  // The time is rounded up, so that the deadline is over when it has run out.
  const auto left = std::chrono::ceil<Milliseconds>(deadline - Clock::now()).count();
  return left > 0 ? static_cast<int>(left) : 0;
}

// Returns what happened, or 0 after the time.
short poll_for(int descriptor, short events, Clock::time_point deadline) {
  for (;;) {
    struct pollfd entry = {descriptor, events, 0};
    const int count = ::poll(&entry, 1, left_until(deadline));
    if (count > 0) return entry.revents;
    if (count == 0) return 0;
    if (errno != EINTR) return POLLERR;
  }
}

std::string remedy_for(int error, int port) {
  if (error == EADDRINUSE) {
    return "another program has it; give another options.port, or 0 for a free one";
  }
  if (error == EACCES && port < 1024)
    return "ports below 1024 belong to root; give a higher options.port";
  return "set options.host to one that this machine has";
}

[[noreturn]] void cannot_listen(const std::string& host, int port, int error) {
  throw std::runtime_error("serve: cannot listen on " + host + " port " + std::to_string(port) +
                           ": " + std::strerror(error) + "; " + remedy_for(error, port));
}

using Addresses = std::unique_ptr<struct addrinfo, decltype(&::freeaddrinfo)>;

Addresses addresses_of(const std::string& host, int port) {
  struct addrinfo hints = {};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  struct addrinfo* list = nullptr;
  const int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list);
  if (error != 0) {
    throw std::runtime_error("serve: cannot find host '" + host + "': " + ::gai_strerror(error) +
                             "; give an address that this machine has");
  }
  return Addresses(list, &::freeaddrinfo);
}

}  // namespace

Socket::~Socket() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Socket::Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

Socket& Socket::operator=(Socket&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

Socket listen_on(const std::string& host, int port) {
  const Addresses addresses = addresses_of(host, port);
  int error = EADDRNOTAVAIL;
  for (const struct addrinfo* a = addresses.get(); a != nullptr; a = a->ai_next) {
    Socket socket(::socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol));
    const int on = 1;
    // This lets a server start again at once on the port it had; two at a time are still refused.
    if (socket.is_valid()) {
      ::setsockopt(socket.descriptor(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    }
    if (socket.is_valid() && ::bind(socket.descriptor(), a->ai_addr, a->ai_addrlen) == 0 &&
        ::listen(socket.descriptor(), kBacklog) == 0) {
      return socket;
    }
    error = errno;
  }
  cannot_listen(host, port, error);
}

int port_of(const Socket& listening) {
  struct sockaddr_storage address = {};
  socklen_t length = sizeof address;
  if (::getsockname(
          listening.descriptor(), reinterpret_cast<struct sockaddr*>(&address), &length) != 0) {
    return 0;
  }
  return address.ss_family == AF_INET6
             ? ntohs(reinterpret_cast<const struct sockaddr_in6*>(&address)->sin6_port)
             : ntohs(reinterpret_cast<const struct sockaddr_in*>(&address)->sin_port);
}

void allow_many_descriptors() {
  constexpr rlim_t kWanted = 8192;
  struct rlimit limit = {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= kWanted) return;
  limit.rlim_cur = std::min(kWanted, limit.rlim_max);
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

Wait wait_to_read(const Socket& socket, Milliseconds at_most) {
  const short events = poll_for(socket.descriptor(), POLLIN, Clock::now() + at_most);
  if (events == 0) return Wait::kTimeout;
  return (events & POLLIN) != 0 ? Wait::kReady : Wait::kClosed;
}

bool send_all(const Socket& socket, std::string_view bytes, Milliseconds patience) {
  while (!bytes.empty()) {
    const ssize_t count =
        ::send(socket.descriptor(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count >= 0) {
      bytes.remove_prefix(static_cast<size_t>(count));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      const short events = poll_for(socket.descriptor(), POLLOUT, Clock::now() + patience);
      if ((events & POLLOUT) == 0) return false;
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

bool has_hung_up(const Socket& socket) {
  struct pollfd entry = {socket.descriptor(), POLLRDHUP, 0};
  return ::poll(&entry, 1, 0) > 0;
}

void end_gently(const Socket& socket, Milliseconds at_most) {
  ::shutdown(socket.descriptor(), SHUT_WR);
  const auto deadline = Clock::now() + at_most;
  std::array<char, 4096> dropped;
  constexpr int kPieces = 256;
  for (int k = 0; k < kPieces && poll_for(socket.descriptor(), POLLIN, deadline) != 0; ++k) {
    if (::recv(socket.descriptor(), dropped.data(), dropped.size(), MSG_DONTWAIT) <= 0) return;
  }
}

}  // namespace flightdeck::serve
