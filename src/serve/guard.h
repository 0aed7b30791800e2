// SPDX-License-Identifier: MIT
// Who may ask: keeps out other sites in the same browser, names that were made to point here
// (DNS rebinding), those without the token, and those who ask too often.
#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <string>

#include "serve/http.h"

namespace flightdeck::serve {

constexpr size_t kTokenCharacters = 16;

// Returns true for addresses that only programs of this machine reach.
bool is_loopback(const std::string& host);

// Returns what to write into an address: the machine's name where `host` stands for all its
// addresses.
std::string name_of_host(const std::string& host);

// Throws std::invalid_argument if the host is open to other machines and there is no token, or if
// the token is too short.
void check_token(const std::string& host, const std::string& token);

// Lets through at most `burst` at once and `per_second` in the long run.
class RateLimit {
 public:
  RateLimit(double per_second, double burst);
  bool take(std::chrono::steady_clock::time_point now = std::chrono::steady_clock::now());

 private:
  const double per_second_, burst_;
  std::mutex mutex_;
  double left_;
  std::chrono::steady_clock::time_point last_;
};

class Guard {
 public:
  // An empty token means that none is needed. With `in_frames` other sites may open the page in a
  // frame; its headers say which ones.
  Guard(std::string host, std::string token, bool in_frames = false)
      : host_(std::move(host)), token_(std::move(token)), in_frames_(in_frames) {}

  // Returns an answer if the request is not to be carried out: a refusal, or the redirection that
  // turns a token of the address into a cookie. `port` makes the cookie's name, because cookies
  // know no ports.
  std::optional<Response> stop(const Request& request, int port);

 private:
  std::optional<Response> check(const Request& request, int port) const;
  void check_host(const Request& request) const;
  void check_site(const Request& request) const;
  std::optional<Response> check_token_of(const Request& request, int port) const;

  const std::string host_, token_;
  const bool in_frames_;
  // Two hundred pages that open at once send some ten requests each.
  RateLimit rate_{400, 4000}, rate_of_strangers_{200, 400};
};

}  // namespace flightdeck::serve
