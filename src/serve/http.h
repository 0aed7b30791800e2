// SPDX-License-Identifier: MIT
// Requests and answers as the server's own code sees them, free of any HTTP library.
#pragma once

#include <exception>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace flightdeck::serve {

struct Request {
  std::string method;                                  // "GET", "HEAD" or "POST"
  std::string path;                                    // decoded
  std::multimap<std::string, std::string> parameters;  // decoded
  std::map<std::string, std::string> headers;          // names in lower case; see request_head.h

  // Returns the header, empty if there is none.
  std::string header(const std::string& name) const;
};

// Takes an answer that is made piece by piece.
class Outlet {
 public:
  virtual ~Outlet() = default;
  // Returns false if the client is gone or does not read.
  virtual bool write(std::string_view bytes) = 0;
  // Returns false if the client is gone.
  virtual bool is_open() const = 0;
};

struct Response {
  int status = 200;
  std::string type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;
  // Stands in place of the body and is called again and again until it returns false.
  std::function<bool(Outlet&)> stream;
  bool is_to_stranger = false;  // to one who may not ask
};

// Returns a `wire::Refusal` with its status.
Response refusal(int status, const std::string& error, const std::string& remedy);

// Ends the handling of a request. It carries the answer.
class Refused : public std::exception {
 public:
  Refused(int status, const std::string& error, const std::string& remedy)
      : answer_(refusal(status, error, remedy)) {}
  const Response& answer() const { return answer_; }
  const char* what() const noexcept override { return answer_.body.c_str(); }

 private:
  Response answer_;
};

// Returns the headers of every answer: the page may load nothing from elsewhere, and nobody may
// embed it, or only pages of this machine (`in_frames`).
std::vector<std::pair<std::string, std::string>> strict_headers(bool in_frames = false);

}  // namespace flightdeck::serve
