// SPDX-License-Identifier: MIT
// Many at once: viewers, one who never reads, and strangers who hold every connection.
#include <atomic>
#include <filesystem>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/record/runs.h"
#include "tests/serve/client.h"

namespace flightdeck::tests {
namespace {

const char* const kCrowdToken = "0123456789abcdef-token";
const HeaderLines kKnown = {std::string("Authorization: Bearer ") + kCrowdToken};

void guarded(serve::ServerOptions& options) {
  options.token = kCrowdToken;
  options.limits.connections = 40;
}

// How many of `count` requests, each on a connection of its own, are answered.
int answered(int port, int count) {
  int good = 0;
  for (int k = 0; k < count; ++k) good += get(port, "/api/v1/server", kKnown).status == 200;
  return good;
}

TEST(Crowd, StrangersWhoHoldEveryConnectionKeepNobodyOut) {
  const ServedFolder served(guarded);
  std::vector<std::unique_ptr<Client>> strangers;
  const auto come = [&](const std::string& words) {
    for (int k = 0; k < 60; ++k) {
      strangers.push_back(std::make_unique<Client>(served.port()));
      strangers.back()->send(words);
    }
  };
  for (const char* words : {"",
                            "GET / HTTP/1.1\r\nHost: loc",
                            "GET /api/v1/runs HTTP/1.1\r\nHost: localhost\r\n\r\n",
                            "nonsense\r\n\r\n"}) {
    come(words);
    EXPECT_GE(answered(served.port(), 100), 99) << words;
  }
}

TEST(Crowd, WhoIsKnownKeepsTheConnectionWhereStrangersWait) {
  const ServedFolder served(guarded);
  Client known(served.port());
  const std::string request =
      "GET /api/v1/server HTTP/1.1\r\nHost: localhost\r\n" + kKnown[0] + "\r\n\r\n";
  known.send(request);
  EXPECT_EQ(known.reply().status, 200);
  std::vector<std::unique_ptr<Client>> strangers;
  for (int k = 0; k < 100; ++k) strangers.push_back(std::make_unique<Client>(served.port()));
  EXPECT_GE(answered(served.port(), 10), 10);
  known.send(request);
  EXPECT_EQ(known.reply().status, 200);
}

TEST(Crowd, TwoHundredViewersAreAnsweredBesideOneWhoNeverReads) {
  const ServedFolder served;
  {
    Recorder recorder(served.path() + "/.recorded");
    recorder.begin(full_info());
    for (int64_t step = 0; step < 2000; ++step) {
      std::vector<Reading> readings;
      for (int k = 0; k < 20; ++k) readings.push_back(number("loss", 0.1, std::to_string(k)));
      recorder.write(step_of(step, readings));
    }
    recorder.finish(Ending::kFinished);
  }
  std::filesystem::rename(served.path() + "/.recorded", served.path() + "/one");
  get_until(served.port(), "/api/v1/runs", "\"id\":\"one\"");

  Client deaf(served.port());
  deaf.send("GET /api/v1/csv?run=one&quantity=loss HTTP/1.1\r\nHost: localhost\r\n\r\n");
  constexpr int kViewers = 200;
  std::atomic<int> good{0};
  const auto view = [&] {
    const auto events = open_events(served.port());
    for (const char* target : {"/",
                               "/api/v1/runs",
                               "/api/v1/run?id=one",
                               "/api/v1/series?run=one&quantity=loss&points=50"}) {
      // Built without the page, there is nothing at the first one.
      const int status = get(served.port(), target).status;
      good += status == 200 || (status == 404 && std::string(target) == "/");
    }
  };
  std::vector<std::thread> viewers;
  for (int k = 0; k < kViewers; ++k) viewers.emplace_back(view);
  for (std::thread& viewer : viewers) viewer.join();
  EXPECT_GE(good, 4 * kViewers * 99 / 100);
}

}  // namespace
}  // namespace flightdeck::tests
