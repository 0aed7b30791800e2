// SPDX-License-Identifier: MIT
#include "serve/http.h"

#include "serve/wire.h"

namespace flightdeck::serve {

std::string Request::header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? "" : found->second;
}

Response refusal(int status, const std::string& error, const std::string& remedy) {
  Response answer;
  answer.status = status;
  answer.body = wire::to_json(wire::Refusal{error, remedy});
  if (status == 405) answer.headers.emplace_back("Allow", "GET, HEAD");
  if (status == 429 || status == 503) answer.headers.emplace_back("Retry-After", "2");
  return answer;
}

std::vector<std::pair<std::string, std::string>> strict_headers(bool in_frames) {
  const std::string framers =
      in_frames ? "http://localhost:* http://127.0.0.1:* https://localhost:* https://127.0.0.1:*"
                : "'none'";
  std::vector<std::pair<std::string, std::string>> headers = {
      {"Content-Security-Policy",
       "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
       "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors " +
           framers},
      {"X-Content-Type-Options", "nosniff"},
      {"Referrer-Policy", "no-referrer"},
      {"Cross-Origin-Resource-Policy", "same-origin"},
      {"Cross-Origin-Opener-Policy", "same-origin"}};
  // This header cannot list sites. Browsers that know the policy above do without it.
  if (!in_frames) headers.emplace_back("X-Frame-Options", "DENY");
  return headers;
}

}  // namespace flightdeck::serve
