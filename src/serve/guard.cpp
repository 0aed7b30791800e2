// SPDX-License-Identifier: MIT
#include "serve/guard.h"

#include <algorithm>
#include <arpa/inet.h>
#include <stdexcept>
#include <unistd.h>

namespace flightdeck::serve {

namespace {

std::string lower_case(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

bool is_digits(const std::string& text) {
  return text.size() <= 5 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Returns the name before the port: "localhost:8080" -> "localhost", "[::1]:8080" -> "::1"; empty
// if it is neither. Any port will do, because a tunnel ends at another one, and rebinding is a
// matter of names.
std::string name_in(const std::string& header) {
  std::string name = lower_case(header), rest;
  if (!name.empty() && name.front() == '[') {
    const size_t end = name.find(']');
    if (end == std::string::npos) return "";
    rest = name.substr(end + 1);
    name = name.substr(1, end - 1);
  } else {
    const size_t colon = name.find(':');
    if (colon != std::string::npos) rest = name.substr(colon);
    name = name.substr(0, colon);
  }
  if (!rest.empty() && (rest.front() != ':' || !is_digits(rest.substr(1)))) return "";
  return name;
}

bool is_address(const std::string& name) {
  struct in6_addr bytes;
  return ::inet_pton(AF_INET, name.c_str(), &bytes) == 1 ||
         ::inet_pton(AF_INET6, name.c_str(), &bytes) == 1;
}

bool is_any_address(const std::string& host) { return host == "0.0.0.0" || host == "::"; }

std::string machine_name() {
  char name[256] = "";
  ::gethostname(name, sizeof name - 1);
  return lower_case(name);
}

// Compares in the same time wherever the two differ.
bool is_same(const std::string& given, const std::string& secret) {
  unsigned difference = given.size() == secret.size() ? 0 : 1;
  for (size_t k = 0; k < secret.size(); ++k) {
    const char c = given.empty() ? '\0' : given[k % given.size()];
    difference |= static_cast<unsigned char>(c) ^ static_cast<unsigned char>(secret[k]);
  }
  return difference == 0;
}

std::string cookie_name(int port) { return "flightdeck_" + std::to_string(port); }

std::string cookie_in(const std::string& header, const std::string& name) {
  for (size_t begin = 0; begin < header.size();) {
    const size_t end = std::min(header.find(';', begin), header.size());
    std::string part = header.substr(begin, end - begin);
    part.erase(0, part.find_first_not_of(' '));
    if (part.compare(0, name.size() + 1, name + "=") == 0) return part.substr(name.size() + 1);
    begin = end + 1;
  }
  return "";
}

bool is_cookie_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string("-._~").find(c) != std::string::npos;
}

}  // namespace

bool is_loopback(const std::string& host) {
  const std::string name = lower_case(host);
  return name == "localhost" || name == "::1" ||
         (is_address(name) && name.compare(0, 4, "127.") == 0);
}

void check_token(const std::string& host, const std::string& token) {
  if (token.empty()) {
    if (is_loopback(host)) return;
    throw std::invalid_argument(
        "serve: options.host " + host +
        " lets other machines read everything that was recorded; set options.token to at least " +
        std::to_string(kTokenCharacters) +
        " characters that they have to know, or use the default host and a tunnel (ssh -L)");
  }
  if (token.size() < kTokenCharacters ||
      !std::all_of(token.begin(), token.end(), is_cookie_character)) {
    throw std::invalid_argument("serve: options.token has " + std::to_string(token.size()) +
                                " characters; give at least " + std::to_string(kTokenCharacters) +
                                " letters, digits or -._~ (openssl rand -hex 16 makes some)");
  }
}

std::string name_of_host(const std::string& host) {
  if (is_any_address(host)) return machine_name();
  return host.find(':') == std::string::npos ? host : "[" + host + "]";
}

RateLimit::RateLimit(double per_second, double burst)
    : per_second_(per_second),
      burst_(burst),
      left_(burst),
      last_(std::chrono::steady_clock::now()) {}

bool RateLimit::take(std::chrono::steady_clock::time_point now) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const double seconds = std::chrono::duration<double>(now - last_).count();
  left_ = std::min(burst_, left_ + std::max(0.0, seconds) * per_second_);
  last_ = std::max(last_, now);
  if (left_ < 1) return false;
  left_ -= 1;
  return true;
}

std::optional<Response> Guard::stop(const Request& request, int port) {
  std::optional<Response> stopped = check(request, port);
  // Strangers have a rate of their own, so that they cannot use up that of those who may read.
  RateLimit& rate = stopped ? rate_of_strangers_ : rate_;
  if (!rate.take()) {
    return refusal(429, "too many requests", "wait a second; ask for several series at once");
  }
  return stopped;
}

std::optional<Response> Guard::check(const Request& request, int port) const {
  try {
    check_host(request);
    check_site(request);
  } catch (const Refused& refused) {
    return refused.answer();
  }
  return check_token_of(request, port);
}

void Guard::check_host(const Request& request) const {
  const std::string name = name_in(request.header("host"));
  const bool is_known = name == "localhost" || name == "127.0.0.1" || name == "::1" ||
                        name == lower_case(host_) ||
                        (is_any_address(host_) && (is_address(name) || name == machine_name()));
  if (is_known && !name.empty()) return;
  throw Refused(403,
                "this server is not called '" + request.header("host").substr(0, 100) + "'",
                "use the address that flightdeck serve printed; a name of your own has to be the "
                "host of the server");
}

void Guard::check_site(const Request& request) const {
  const std::string origin = request.header("origin");
  const std::string host = request.header("host");
  const bool is_own_origin =
      origin.empty() || origin == "http://" + host || origin == "https://" + host;
  const std::string site = request.header("sec-fetch-site");
  // A link from elsewhere may open the page, since that fetches by itself all that it shows.
  const std::string place = request.header("sec-fetch-dest");
  const bool is_opened = request.path == "/" && request.header("sec-fetch-mode") == "navigate" &&
                         (place == "document" || (in_frames_ && place == "iframe"));
  const bool is_own_site = site.empty() || site == "same-origin" || site == "none" || is_opened;
  if (is_own_origin && is_own_site) return;
  throw Refused(403,
                "the request comes from another site",
                "open the address that flightdeck serve printed in a tab of its own");
}

std::optional<Response> Guard::check_token_of(const Request& request, int port) const {
  if (token_.empty()) return std::nullopt;
  const auto given = request.parameters.find("token");
  if (request.path == "/" && given != request.parameters.end() && is_same(given->second, token_)) {
    Response answer;
    answer.status = 303;
    answer.headers = {
        {"Location", "/"},
        {"Cache-Control", "no-store"},
        {"Set-Cookie", cookie_name(port) + "=" + token_ + "; Path=/; HttpOnly; SameSite=Strict"}};
    return answer;
  }
  const std::string authorization = request.header("authorization");
  const std::string bearer = "Bearer ";
  if (authorization.compare(0, bearer.size(), bearer) == 0 &&
      is_same(authorization.substr(bearer.size()), token_)) {
    return std::nullopt;
  }
  if (is_same(cookie_in(request.header("cookie"), cookie_name(port)), token_)) return std::nullopt;
  Response answer = refusal(401,
                            "the token is missing or wrong",
                            "open /?token=TOKEN once in a browser, or send the header "
                            "Authorization: Bearer TOKEN");
  answer.headers.emplace_back("WWW-Authenticate", "Bearer");
  return answer;
}

}  // namespace flightdeck::serve
