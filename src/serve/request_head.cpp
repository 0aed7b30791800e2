// SPDX-License-Identifier: MIT
#include "serve/request_head.h"

#include <algorithm>
#include <array>
#include <set>

namespace flightdeck::serve {

namespace {

constexpr std::string_view kLineEnd = "\r\n";
constexpr std::string_view kHeadEnd = "\r\n\r\n";

// Accept-Encoding is not among them on purpose, because the library would compress megabytes with
// brotli's slowest setting. Nor is Range, since nothing here is read in parts.
constexpr std::array<std::string_view, 10> kHeaders = {"authorization",
                                                       "connection",
                                                       "cookie",
                                                       "host",
                                                       "if-none-match",
                                                       "last-event-id",
                                                       "origin",
                                                       "sec-fetch-dest",
                                                       "sec-fetch-mode",
                                                       "sec-fetch-site"};

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7f;
}

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

std::string_view trimmed(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

[[noreturn]] void malformed(const std::string& what) {
  throw Refused(400, "malformed request: " + what, "send a plain HTTP/1.1 GET request");
}

// Checks a line such as "GET /path?query HTTP/1.1".
void check_request_line(std::string_view line) {
  const size_t first = line.find(' ');
  const size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) malformed("no request line");
  const std::string_view method = line.substr(0, first);
  const std::string_view target = line.substr(first + 1, last - first - 1);
  const std::string_view version = line.substr(last + 1);
  if (method.empty() || !std::all_of(method.begin(), method.end(), is_name_character)) {
    malformed("the method is not a word");
  }
  if (version != "HTTP/1.1" && version != "HTTP/1.0") malformed("not HTTP/1.1");
  const bool is_change = method == "POST" && target.substr(0, target.find('?')) == kLabelsAddress;
  if (method != "GET" && method != "HEAD" && !is_change) {
    throw Refused(405,
                  "method " + std::string(method.substr(0, 20)) + " is not served at this address",
                  "use GET or HEAD: nothing but labels can be changed here");
  }
  if (target.size() > kTargetBytes) {
    throw Refused(414,
                  "the address has " + std::to_string(target.size()) + " characters, more than " +
                      std::to_string(kTargetBytes),
                  "ask for fewer series at once, or for all groups by quantity=NAME");
  }
  if (target.empty() || target.front() != '/') malformed("the address does not begin with /");
  for (const char c : target) {
    if (is_control(c) || c == ' ') malformed("control characters or blanks in the address");
  }
}

class HeaderLines {
 public:
  void add(std::string_view line) {
    if (++count_ > kHeaderLines) {
      throw Refused(
          431, "more than " + std::to_string(kHeaderLines) + " header lines", "send fewer headers");
    }
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos || colon == 0) malformed("a header line without a name");
    const std::string_view name = line.substr(0, colon);
    if (!std::all_of(name.begin(), name.end(), is_name_character)) {
      malformed("a header name with odd characters");
    }
    const std::string_view value = trimmed(line.substr(colon + 1));
    for (const char c : value) {
      if (is_control(c) && c != '\t') malformed("control characters in a header");
    }
    take(lower_case(name), value);
  }

  bool has(const std::string& name) const { return seen_.count(name) != 0; }
  const std::string& text() const { return text_; }

 private:
  void take(const std::string& name, std::string_view value) {
    if (name == "transfer-encoding" || (name == "content-length" && value != "0")) {
      throw Refused(413,
                    "requests with a body are not served",
                    "send it without one; all parameters are in the address");
    }
    if (std::find(kHeaders.begin(), kHeaders.end(), name) == kHeaders.end()) return;
    if (!seen_.insert(name).second) malformed("header " + name + " comes twice");
    text_ += name + ": ";
    text_ += name == "connection" ? lower_case(value) : std::string(value);
    text_ += kLineEnd;
  }

  size_t count_ = 0;
  std::set<std::string> seen_;
  std::string text_;
};

std::string well_formed(std::string_view head) {
  const size_t line_end = head.find(kLineEnd);
  const std::string_view request_line = head.substr(0, line_end);
  check_request_line(request_line);
  HeaderLines headers;
  head.remove_prefix(line_end + kLineEnd.size());
  while (head.size() > kLineEnd.size()) {
    const size_t end = head.find(kLineEnd);
    headers.add(head.substr(0, end));
    head.remove_prefix(end + kLineEnd.size());
  }
  if (!headers.has("host")) malformed("no Host header");
  return std::string(request_line) + std::string(kLineEnd) + headers.text() + std::string(kLineEnd);
}

}  // namespace

size_t head_length(std::string_view bytes) {
  const size_t end = bytes.find(kHeadEnd);
  return end == std::string_view::npos ? 0 : end + kHeadEnd.size();
}

RequestHead read_head(std::string_view head) {
  RequestHead result;
  try {
    result.text = well_formed(head);
  } catch (const Refused& refused) {
    result.refusal = refused.answer();
  }
  return result;
}

}  // namespace flightdeck::serve
