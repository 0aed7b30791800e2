// SPDX-License-Identifier: MIT
// Who is let in: names, sites, tokens, rates, and paths that try to leave the folder.
#include "serve/guard.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "tests/record/runs.h"
#include "tests/serve/client.h"

namespace flightdeck::tests {
namespace {

const char* const kToken = "0123456789abcdef-token";

TEST(Guard, KnowsItsNames) {
  const ServedFolder served;
  for (const char* host :
       {"localhost", "LocalHost:1", "127.0.0.1", "127.0.0.1:65535", "[::1]", "[::1]:8080"}) {
    EXPECT_EQ(get(served.port(), "/api/v1/runs", {std::string("Host: ") + host}).status, 200)
        << host;
  }
}

TEST(Guard, RefusesOtherNames) {
  const ServedFolder served;
  for (const char* host : {"evil.example",
                           "127.0.0.1.evil.example",
                           "localhost.evil.example",
                           "evil.example:8080",
                           "localhost@evil.example",
                           "localhost:80:80",
                           "localhost:x",
                           "localhost:123456",
                           "[::1",
                           "[::1]x",
                           "::1",
                           "0.0.0.0",
                           "2130706433",
                           "192.168.0.1",
                           ":80",
                           ""}) {
    const Reply reply = get(served.port(), "/api/v1/runs", {std::string("Host: ") + host});
    EXPECT_EQ(reply.status, 403) << host;
    EXPECT_NE(reply.body.find("the address that flightdeck serve printed"), std::string::npos);
  }
}

TEST(Guard, KnowsTheNameGivenToIt) {
  serve::Guard guard("deck.example", kToken);
  serve::Request request;
  request.path = "/";
  request.headers = {{"host", "Deck.example:8080"},
                     {"authorization", std::string("Bearer ") + kToken}};
  EXPECT_FALSE(guard.stop(request, 8080));
  request.headers["host"] = "other.example";
  EXPECT_EQ(guard.stop(request, 8080)->status, 403);
}

TEST(Guard, KnowsAddressesButNoNamesWhenItListensOnAll) {
  serve::Guard guard("0.0.0.0", "");
  serve::Request request;
  request.headers["host"] = "192.168.0.7:8080";
  EXPECT_FALSE(guard.stop(request, 8080));
  request.headers["host"] = "rebound.example:8080";
  EXPECT_EQ(guard.stop(request, 8080)->status, 403);
}

TEST(Guard, LetsFramesOpenThePageAloneAndOnlyIfTold) {
  serve::Request request;
  request.path = "/";
  request.headers = {{"host", "127.0.0.1:8080"},
                     {"sec-fetch-site", "cross-site"},
                     {"sec-fetch-mode", "navigate"},
                     {"sec-fetch-dest", "iframe"}};
  serve::Guard strict("127.0.0.1", "");
  EXPECT_EQ(strict.stop(request, 8080)->status, 403);
  serve::Guard framed("127.0.0.1", "", /*in_frames=*/true);
  EXPECT_FALSE(framed.stop(request, 8080));
  request.path = "/api/v1/runs";
  EXPECT_EQ(framed.stop(request, 8080)->status, 403);
}

TEST(Guard, RefusesOtherSites) {
  const ServedFolder served;
  const std::string own = "Origin: http://127.0.0.1:" + std::to_string(served.port());
  const struct {
    const char* target;
    HeaderLines lines;
    int status;
  } table[] = {
      {"/api/v1/runs", {own}, 200},
      {"/api/v1/runs", {"Origin: http://localhost:9000", "Host: localhost:9000"}, 200},
      {"/api/v1/runs", {"Origin: http://evil.example"}, 403},
      {"/api/v1/runs", {"Origin: null"}, 403},
      {"/api/v1/runs", {"Origin: http://127.0.0.1:1"}, 403},
      {"/api/v1/runs", {own, "Sec-Fetch-Site: same-origin"}, 200},
      {"/api/v1/runs", {"Sec-Fetch-Site: none"}, 200},
      {"/api/v1/runs", {"Sec-Fetch-Site: cross-site"}, 403},
      {"/api/v1/runs", {"Sec-Fetch-Site: same-site"}, 403},
      {"/api/v1/events", {"Sec-Fetch-Site: cross-site"}, 403},
      {"/",
       {"Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"},
       200},
      {"/",
       {"Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: iframe"},
       403},
      {"/api/v1/runs",
       {"Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"},
       403},
  };
  for (const auto& row : table) {
    EXPECT_EQ(get(served.port(), row.target, row.lines).status, row.status)
        << row.target << " " << row.lines.back();
  }
}

TEST(Guard, SendsStrictHeadersWithEveryAnswer) {
  const ServedFolder served;
  for (const Reply& reply : {get(served.port(), "/"),
                             get(served.port(), "/api/v1/runs"),
                             get(served.port(), "/nothing"),
                             get(served.port(), "/", {}, "POST"),
                             get(served.port(), "/", {"Host: evil.example"})}) {
    EXPECT_NE(reply.headers.at("content-security-policy").find("default-src 'none'"),
              std::string::npos);
    EXPECT_EQ(reply.headers.at("x-content-type-options"), "nosniff");
    EXPECT_EQ(reply.headers.at("x-frame-options"), "DENY");
    EXPECT_EQ(reply.headers.at("referrer-policy"), "no-referrer");
    EXPECT_EQ(reply.headers.at("cross-origin-resource-policy"), "same-origin");
    EXPECT_EQ(reply.headers.count("access-control-allow-origin"), 0u);
  }
}

TEST(Guard, ReadsNothingOutsideTheFolder) {
  ServedFolder served;
  served.add_run("inside");
  get_until(served.port(), "/api/v1/runs", "inside");
  const std::string outside = served.path() + ".outside";
  {
    Recorder recorder(outside);
    recorder.begin(full_info());
    recorder.finish(Ending::kFinished);
  }
  const std::string name = std::filesystem::path(outside).filename().string();
  for (const std::string& target : {std::string("/../../../../etc/passwd"),
                                    std::string("/%2e%2e/%2e%2e/%2e%2e/etc/passwd"),
                                    std::string("/..%2f..%2f..%2fetc%2fpasswd"),
                                    std::string("/..%5c..%5cetc%5cpasswd"),
                                    std::string("//etc/passwd"),
                                    std::string("/./index.html"),
                                    std::string("/index.html%00.js"),
                                    std::string("/api/v1/run?id=../") + name,
                                    std::string("/api/v1/run?id=%2e%2e%2f") + name,
                                    std::string("/api/v1/run?id=%252e%252e%252f") + name,
                                    "/api/v1/run?id=" + outside,
                                    "/api/v1/run?id=inside/../../" + name,
                                    std::string("/api/v1/run?id=inside%00"),
                                    std::string("/api/v1/run?id=./inside"),
                                    std::string("/api/v1/run?id=inside/"),
                                    std::string("/api/v1/run?id=.."),
                                    std::string("/api/v1/run?id="),
                                    "/api/v1/run?id=" + std::string(5000, 'a'),
                                    std::string("/api/v1/csv?ids=1&run=../") + name,
                                    std::string("/api/v1/lamps?run=../") + name,
                                    std::string("/api/v1/diagnosis?run=../") + name}) {
    EXPECT_EQ(get(served.port(), target).status, 404) << target;
  }
  std::filesystem::remove_all(outside);
}

TEST(Guard, AsksForTheToken) {
  const ServedFolder served([](serve::ServerOptions& options) { options.token = kToken; });
  const int port = served.port();
  const std::string cookie = "Cookie: a=b; flightdeck_" + std::to_string(port) + "=";
  EXPECT_EQ(get(port, "/").status, 401);
  EXPECT_EQ(get(port, "/api/v1/runs").status, 401);
  EXPECT_EQ(get(port, "/metrics").headers.at("www-authenticate"), "Bearer");
  EXPECT_EQ(get(port, "/api/v1/runs", {"Authorization: Bearer wrong"}).status, 401);
  EXPECT_EQ(get(port, "/api/v1/runs", {"Authorization: Bearer "}).status, 401);
  EXPECT_EQ(get(port, "/api/v1/runs", {std::string("Authorization: Basic ") + kToken}).status, 401);
  EXPECT_EQ(
      get(port, "/api/v1/runs", {"Authorization: Bearer " + std::string(kToken) + kToken}).status,
      401);
  EXPECT_EQ(get(port, std::string("/api/v1/runs?token=") + kToken).status, 401);
  EXPECT_EQ(get(port, "/?token=wrong").status, 401);
  EXPECT_EQ(get(port, "/api/v1/runs", {std::string("Authorization: Bearer ") + kToken}).status,
            200);
  EXPECT_EQ(get(port, "/api/v1/runs", {cookie + kToken}).status, 200);
  EXPECT_EQ(get(port, "/api/v1/runs", {cookie + "wrong"}).status, 401);
}

TEST(Guard, TurnsATokenOfTheAddressIntoACookie) {
  const ServedFolder served([](serve::ServerOptions& options) { options.token = kToken; });
  const Reply reply = get(served.port(), std::string("/?token=") + kToken);
  EXPECT_EQ(reply.status, 303);
  EXPECT_EQ(reply.headers.at("location"), "/");
  const std::string cookie = reply.headers.at("set-cookie");
  EXPECT_NE(cookie.find("; HttpOnly; SameSite=Strict"), std::string::npos) << cookie;
  EXPECT_EQ(get(served.port(), "/", {"Cookie: " + cookie.substr(0, cookie.find(';'))}).status, 200);
}

TEST(Guard, DemandsATokenForHostsThatOthersReach) {
  for (const char* host : {"127.0.0.1", "127.3.2.1", "localhost", "::1"}) {
    EXPECT_NO_THROW(serve::check_token(host, "")) << host;
  }
  for (const char* host : {"0.0.0.0", "::", "192.168.0.1", "deck.example", "127.evil.example"}) {
    const std::string message = message_of([&] { serve::check_token(host, ""); });
    EXPECT_NE(message.find("lets other machines read"), std::string::npos) << host << message;
    EXPECT_NO_THROW(serve::check_token(host, kToken)) << host;
  }
  for (const char* token : {"short",
                            "fifteen_letters",
                            "long enough but with blanks",
                            "long_enough;but=not_for_cookies"}) {
    EXPECT_THROW(serve::check_token("0.0.0.0", token), std::invalid_argument) << token;
  }
}

TEST(Guard, BoundsTheRate) {
  serve::RateLimit limit(2, 3);
  const auto start = std::chrono::steady_clock::now();
  for (int k = 0; k < 3; ++k) EXPECT_TRUE(limit.take(start));
  EXPECT_FALSE(limit.take(start));
  EXPECT_TRUE(limit.take(start + std::chrono::milliseconds(600)));
  EXPECT_FALSE(limit.take(start + std::chrono::milliseconds(600)));
  for (int k = 0; k < 3; ++k) EXPECT_TRUE(limit.take(start + std::chrono::hours(1)));
  EXPECT_FALSE(limit.take(start + std::chrono::hours(1)));
}

TEST(Guard, TellsThoseWhoAskTooOftenToWait) {
  serve::Guard guard("127.0.0.1", "");
  serve::Request request;
  request.headers["host"] = "localhost";
  int refused = 0;
  for (int k = 0; k < 5000; ++k) {
    const auto answer = guard.stop(request, 80);
    if (answer && answer->status == 429) ++refused;
  }
  EXPECT_GT(refused, 0);
}

TEST(Guard, KeepsStrangersFromUsingUpTheRateOfReaders) {
  serve::Guard guard("127.0.0.1", "");
  serve::Request stranger;
  stranger.headers["host"] = "evil.example";
  for (int k = 0; k < 5000; ++k) EXPECT_TRUE(guard.stop(stranger, 80));
  serve::Request reader;
  reader.headers["host"] = "localhost";
  EXPECT_FALSE(guard.stop(reader, 80));
}

TEST(Guard, NamesTheMachineWhereAllAddressesAreServed) {
  EXPECT_EQ(serve::name_of_host("127.0.0.1"), "127.0.0.1");
  EXPECT_EQ(serve::name_of_host("::1"), "[::1]");
  EXPECT_EQ(serve::name_of_host("0.0.0.0").find("0.0.0.0"), std::string::npos);
}

}  // namespace
}  // namespace flightdeck::tests
