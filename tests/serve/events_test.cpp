// SPDX-License-Identifier: MIT
// Server-sent events: everything first, then what changes, and on from where a client was.
#include <filesystem>

#include <gtest/gtest.h>

#include "tests/record/runs.h"
#include "tests/serve/client.h"

namespace flightdeck::tests {
namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

bool wait_for(Client& client, const std::string& part) {
  return client.read_until([&](const std::string& text) { return has(text, part); });
}

// The last id in a stream.
std::string last_id(const std::string& text) {
  const size_t begin = text.rfind("\nid: ") + 5;
  return text.substr(begin, text.find('\n', begin) - begin);
}

TEST(Events, BeginWithTheServerAndEveryRun) {
  ServedFolder served;
  served.add_run("one");
  served.add_run("group/two");
  get_until(served.port(), "/api/v1/runs", "two");
  const auto client = open_events(served.port());
  EXPECT_TRUE(has(client->received(), "Content-Type: text/event-stream"));
  EXPECT_TRUE(wait_for(*client, "event: reset\n"));
  EXPECT_TRUE(wait_for(*client, "\"id\":\"one\""));
  EXPECT_TRUE(wait_for(*client, "\"id\":\"group/two\""));
}

TEST(Events, TellThatARunAppearsGrowsAndEnds) {
  ServedFolder served;
  const auto client = open_events(served.port());
  EXPECT_TRUE(wait_for(*client, "event: reset\n"));
  Recorder recorder(served.path() + "/live");
  recorder.begin(full_info());
  EXPECT_TRUE(wait_for(*client, "\"id\":\"live\",\"status\":\"running\""));
  recorder.write(step_of(5, {number("loss", 0.25)}));
  EXPECT_TRUE(wait_for(*client, "\"last_step\":5"));
  EXPECT_TRUE(wait_for(*client, "\"values\":{\"loss\":0.25}"));
  recorder.finish(Ending::kInterrupted);
  EXPECT_TRUE(wait_for(*client, "\"status\":\"interrupted\""));
}

TEST(Events, TellThatARunIsGone) {
  ServedFolder served;
  served.add_run("short_lived");
  const auto client = open_events(served.port());
  EXPECT_TRUE(wait_for(*client, "\"id\":\"short_lived\""));
  std::filesystem::remove_all(served.path() + "/short_lived");
  EXPECT_TRUE(wait_for(*client, "event: gone\n"));
  EXPECT_TRUE(wait_for(*client, "{\"id\":\"short_lived\",\"change\":"));
}

TEST(Events, GoOnWhereAClientWas) {
  ServedFolder served;
  served.add_run("before");
  served.add_run("removed");
  auto client = open_events(served.port());
  EXPECT_TRUE(wait_for(*client, "\"id\":\"before\""));
  EXPECT_TRUE(wait_for(*client, "\"id\":\"removed\""));
  EXPECT_TRUE(client->read_until(
      [](const std::string& text) { return text.compare(text.size() - 2, 2, "\r\n") == 0; }));
  const std::string id = last_id(client->received());
  client.reset();
  served.add_run("after");
  std::filesystem::remove_all(served.path() + "/removed");
  const auto again = open_events(served.port(), id);
  EXPECT_TRUE(wait_for(*again, "\"id\":\"after\""));
  EXPECT_TRUE(wait_for(*again, "event: gone\n"));
  EXPECT_FALSE(has(again->received(), "event: reset")) << again->received();
  EXPECT_FALSE(has(again->received(), "\"id\":\"before\"")) << again->received();
}

TEST(Events, BeginAnewForClientsOfAnotherServer) {
  ServedFolder served;
  served.add_run("kept");
  auto client = open_events(served.port());
  EXPECT_TRUE(wait_for(*client, "\"id\":\"kept\""));
  const std::string id = last_id(client->received());
  client.reset();
  served.restart();
  const auto again = open_events(served.port(), id);
  EXPECT_TRUE(wait_for(*again, "event: reset\n"));
  EXPECT_TRUE(wait_for(*again, "\"id\":\"kept\""));
}

TEST(Events, BeginAnewForIdsThatMakeNoSense) {
  ServedFolder served;
  const auto client = open_events(served.port());
  EXPECT_TRUE(wait_for(*client, "event: reset\n"));
  const std::string epoch = last_id(client->received()).substr(0, 16);
  for (const std::string& id :
       {std::string("x"), epoch + "-", epoch + "--1", epoch + "-1x", epoch + "-99999"}) {
    const auto other = open_events(served.port(), id);
    EXPECT_TRUE(wait_for(*other, "event: reset\n")) << id;
  }
}

TEST(Events, EndWhenTheServerStops) {
  ServedFolder served;
  const auto client = open_events(served.port());
  EXPECT_TRUE(wait_for(*client, "event: reset\n"));
  served.server().stop();
  EXPECT_TRUE(client->is_hung_up_within(std::chrono::seconds(20)));
}

}  // namespace
}  // namespace flightdeck::tests
