// SPDX-License-Identifier: MIT
// Clients that send nonsense, too much, too slowly, or do not read: others are served all the same.
#include <atomic>
#include <filesystem>
#include <random>
#include <thread>

#include <gtest/gtest.h>

#include "serve/request_head.h"
#include "tests/record/runs.h"
#include "tests/serve/client.h"

namespace flightdeck::tests {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const char* const kGood = "GET /api/v1/server HTTP/1.1\r\nHost: localhost\r\n\r\n";

void impatient(serve::ServerOptions& options) {
  options.limits.head_ms = 300;
  options.limits.idle_ms = 300;
  options.limits.patience_ms = 300;
}

bool is_answering(const ServedFolder& served) {
  return get_until(served.port(), "/api/v1/server", "\"api\":1").status == 200;
}

int64_t metric(int port, const std::string& name) {
  const std::string text = get(port, "/metrics").body;
  const size_t at = text.find("\n" + name + " ");
  return at == std::string::npos ? -1 : std::atoll(text.c_str() + at + name.size() + 2);
}

TEST(Hostile, MalformedRequestsAreRefused) {
  const ServedFolder served;
  const std::string host = "Host: localhost\r\n";
  const struct {
    std::string text;
    int status;
  } table[] = {
      {"\r\n\r\n", 400},
      {"GET\r\n\r\n", 400},
      {"GET /\r\n" + host + "\r\n", 400},
      {"GET / HTTP/2.0\r\n" + host + "\r\n", 400},
      {"GET / HTTP/1.1 \r\n" + host + "\r\n", 400},
      {"GET / / HTTP/1.1\r\n" + host + "\r\n", 400},
      {"GET http://localhost/ HTTP/1.1\r\n" + host + "\r\n", 400},
      {"GET * HTTP/1.1\r\n" + host + "\r\n", 400},
      {" / HTTP/1.1\r\n" + host + "\r\n", 400},
      {"G@T / HTTP/1.1\r\n" + host + "\r\n", 400},
      {std::string("GET /\0 HTTP/1.1\r\n", 17) + host + "\r\n", 400},
      {"GET /\x7f HTTP/1.1\r\n" + host + "\r\n", 400},
      {"GET / HTTP/1.1\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\n" + host + host + "\r\n", 400},
      {"GET / HTTP/1.1\r\n" + host + "no colon\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\n" + host + ": no name\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\n" + host + "odd name: x\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\n" + host + " folded: x\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\n" + host + std::string("A: \0\r\n\r\n", 8), 400},
      {"GET / HTTP/1.1\r\n" + host + "A: \n\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\n" + host + "Content-Length: 5\r\n\r\nhello", 413},
      {"GET / HTTP/1.1\r\n" + host + "Content-Length: -1\r\n\r\n", 413},
      {"GET / HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 413},
      {"GET /" + std::string(8000, 'a') + " HTTP/1.1\r\n" + host + "\r\n", 414},
      {"GET / HTTP/1.1\r\n" + host + "A: " + std::string(20000, 'a') + "\r\n\r\n", 431},
      {"POST / HTTP/1.1\r\n" + host + "Content-Length: 5\r\n\r\nhello", 405},
      {"GET / HTTP/1.1\r\n" + host + "Content-Length: 0\r\n\r\n", 200},
      {"GET / HTTP/1.1\r\n" + host + "Range: bytes=99999999999999999999-1\r\n\r\n", 200},
      {"GET / HTTP/1.1\r\n" + host + "Expect: 100-continue\r\n\r\n", 200},
      {"GET /?%zz=%u0000&&==&a[]=%00 HTTP/1.1\r\n" + host + "\r\n", 200},
  };
  for (const auto& row : table) {
    Client client(served.port());
    client.send(row.text);
    EXPECT_EQ(client.reply().status, row.status) << row.text.substr(0, 100);
  }
}

TEST(Hostile, ConnectionsEndAfterARefusal) {
  const ServedFolder served;
  Client client(served.port());
  client.send(std::string("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 60\r\n\r\n") +
              kGood);
  EXPECT_EQ(client.reply().status, 405);
  EXPECT_TRUE(client.is_hung_up_within(seconds(20)));
  EXPECT_EQ(client.received(), "") << "the body was taken for a request";
}

TEST(Hostile, ManyHeaderLinesAreRefused) {
  const ServedFolder served;
  std::string text = "GET / HTTP/1.1\r\nHost: localhost\r\n";
  for (int k = 0; k < 200; ++k) text += "A: b\r\n";
  Client client(served.port());
  client.send(text + "\r\n");
  EXPECT_EQ(client.reply().status, 431);
}

TEST(Hostile, HugeRequestsAreCutOff) {
  const ServedFolder served;
  for (const std::string& begin :
       {std::string(), std::string("GET /"), std::string("GET / HTTP/1.1\r\nA: ")}) {
    Client client(served.port());
    client.send(begin + std::string(1 << 16, 'a'));
    EXPECT_EQ(client.reply().status, 431);
    const std::string more(1 << 20, 'a');
    bool is_cut_off = false;
    for (int k = 0; k < 64 && !is_cut_off; ++k) is_cut_off = !client.send(more);
    EXPECT_TRUE(is_cut_off);
  }
  EXPECT_TRUE(is_answering(served));
}

TEST(Hostile, HugeBodiesAreNotRead) {
  const ServedFolder served;
  Client client(served.port());
  client.send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000000\r\n\r\n");
  const std::string more(1 << 20, 'a');
  bool is_cut_off = false;
  for (int k = 0; k < 256 && !is_cut_off; ++k) is_cut_off = !client.send(more);
  EXPECT_TRUE(is_cut_off);
  EXPECT_TRUE(is_answering(served));
}

TEST(Hostile, RequestsThatTrickleInAreCutOff) {
  const ServedFolder served(impatient);
  Client client(served.port());
  const std::string text = "GET / HTTP/1.1\r\nHost: localhost\r\nA: ";
  client.send(text);
  bool is_over = false;
  for (int k = 0; k < 400 && !is_over; ++k) {
    is_over = client.is_hung_up_within(milliseconds(50)) || !client.send("a");
  }
  // What it was told is in the next test: bytes sent after the end make the client's system drop
  // it.
  EXPECT_TRUE(is_over);
}

TEST(Hostile, RequestsThatStopHalfwayAreToldSo) {
  const ServedFolder served(impatient);
  Client client(served.port());
  client.send("GET / HTTP/1.1\r\nHost: localhost\r\nA: ");
  EXPECT_TRUE(client.is_hung_up_within(seconds(20)));
  EXPECT_NE(client.received().find(" 408 "), std::string::npos) << client.received();
}

TEST(Hostile, IdleConnectionsAreEnded) {
  const ServedFolder served(impatient);
  Client silent(served.port());
  EXPECT_TRUE(silent.is_hung_up_within(seconds(20)));
  Client done(served.port());
  done.send(kGood);
  EXPECT_EQ(done.reply().status, 200);
  EXPECT_TRUE(done.is_hung_up_within(seconds(20)));
}

TEST(Hostile, HalfClosedClientsAreAnswered) {
  ServedFolder served;
  served.add_run("one");
  get_until(served.port(), "/api/v1/runs", "one");
  for (const char* target : {"/api/v1/runs", "/api/v1/csv?run=one&quantity=loss"}) {
    Client client(served.port());
    client.send(std::string("GET ") + target + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
    client.close_sending();
    EXPECT_EQ(client.reply().status, 200) << target;
  }
}

TEST(Hostile, EventStreamsThatAreNotReadAreDropped) {
  const ServedFolder served(impatient);
  RunInfo info = full_info();
  info.config["long"] = std::string(200000, 'x');
  Recorder recorder(served.path() + "/live");
  recorder.begin(info);
  const auto client = open_events(served.port());
  EXPECT_GE(metric(served.port(), "flightdeck_event_streams"), 1);
  bool is_dropped = false;
  for (int64_t step = 0; step < 2000 && !is_dropped; ++step) {
    recorder.write(step_of(step, {number("loss", 0.5)}));
    std::this_thread::sleep_for(milliseconds(10));
    if (step % 20 == 0) is_dropped = metric(served.port(), "flightdeck_event_streams") == 0;
  }
  EXPECT_TRUE(is_dropped);
}

TEST(Hostile, ClientsThatLeaveFreeTheirStream) {
  const ServedFolder served;
  { const auto client = open_events(served.port()); }
  bool is_free = false;
  for (int k = 0; k < 200 && !is_free; ++k) {
    std::this_thread::sleep_for(milliseconds(50));
    is_free = metric(served.port(), "flightdeck_event_streams") == 0;
  }
  EXPECT_TRUE(is_free);
}

TEST(Hostile, TwoHundredEventStreamsLeaveRoomForOthers) {
  const ServedFolder served;
  std::vector<std::unique_ptr<Client>> clients;
  for (int k = 0; k < 200; ++k) clients.push_back(open_events(served.port()));
  EXPECT_EQ(metric(served.port(), "flightdeck_event_streams"), 200);
  EXPECT_TRUE(is_answering(served));
  served.add_run("news");
  for (const auto& client : clients) {
    EXPECT_TRUE(client->read_until(
        [](const std::string& text) { return text.find("\"id\":\"news\"") != std::string::npos; }));
  }
  EXPECT_TRUE(is_answering(served));
}

TEST(Hostile, TooManyEventStreamsAreRefused) {
  const ServedFolder served;
  std::vector<std::unique_ptr<Client>> clients;
  for (int k = 0; k < 256; ++k) clients.push_back(open_events(served.port()));
  const Reply reply = get(served.port(), "/api/v1/events");
  EXPECT_EQ(reply.status, 503);
  EXPECT_NE(reply.body.find("close some pages"), std::string::npos) << reply.body;
  EXPECT_TRUE(is_answering(served));
}

TEST(Hostile, AnAnswerThatCannotBeEndedBreaksOffAlone) {
  ServedFolder served;
  {
    Recorder recorder(served.path() + "/.recorded");
    recorder.begin(full_info());
    for (int64_t step = 0; step < 5000; ++step) {
      std::vector<Reading> readings;
      for (int k = 0; k < 50; ++k) readings.push_back(number("loss", 0.1, std::to_string(k)));
      recorder.write(step_of(step, readings));
    }
    recorder.finish(Ending::kFinished);
  }
  std::filesystem::rename(served.path() + "/.recorded", served.path() + "/doomed");
  get_until(served.port(), "/api/v1/runs", "doomed");
  Client client(served.port());
  // Megabytes that nobody reads, so that the run goes away in the middle of the answer.
  client.send("GET /api/v1/csv?run=doomed&quantity=loss HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const auto has_begun = [](const std::string& text) { return text.size() > 10000; };
  EXPECT_TRUE(client.read_until(has_begun));
  std::filesystem::remove_all(served.path() + "/doomed");
  EXPECT_TRUE(client.is_hung_up_within(seconds(20)));
  const std::string end = "\r\n0\r\n\r\n";
  const std::string& text = client.received();
  EXPECT_NE(text.compare(text.size() - end.size(), end.size(), end), 0) << "it looks complete";
  EXPECT_TRUE(is_answering(served));
}

TEST(Hostile, TooManyConnectionsAreRefused) {
  const ServedFolder served([](serve::ServerOptions& options) { options.limits.connections = 4; });
  std::vector<std::unique_ptr<Client>> clients;
  for (int k = 0; k < 4; ++k) clients.push_back(open_events(served.port()));
  Client further(served.port());
  EXPECT_EQ(further.reply().status, 503);
  clients.clear();
  EXPECT_TRUE(is_answering(served));
}

// ---- random requests ----------------------------------------------------------------------------

using Random = std::mt19937;

std::string random_bytes(Random& random, size_t at_most) {
  std::string text(random() % at_most, '\0');
  for (char& c : text) c = static_cast<char>(random());
  return text;
}

std::string valid_request(Random& random) {
  const char* const targets[] = {"/",
                                 "/app.js",
                                 "/api/v1/runs",
                                 "/api/v1/run?id=one",
                                 "/api/v1/series?run=one&quantity=loss&points=10",
                                 "/api/v1/frames?run=one&ids=1&count=3",
                                 "/api/v1/csv?run=one&ids=1",
                                 "/api/v1/events",
                                 "/metrics"};
  return std::string("GET ") + targets[random() % 9] +
         " HTTP/1.1\r\nHost: localhost\r\nCookie: a=b; c=d\r\nLast-Event-ID: abc-12\r\n"
         "If-None-Match: \"x\"\r\nOrigin: http://localhost\r\nConnection: keep-alive\r\n\r\n";
}

// Changes, removes or doubles a few pieces.
std::string mutated(std::string text, Random& random) {
  for (size_t k = random() % 4 + 1; k > 0 && !text.empty(); --k) {
    const size_t at = random() % text.size();
    const size_t length = random() % 8 + 1;
    switch (random() % 5) {
      case 0:
        text[at] = static_cast<char>(random());
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(at, text.substr(at, length));
        break;
      case 3:
        text.insert(at, random_bytes(random, 16));
        break;
      default:
        text.insert(at, std::string("%00\r\n?&=:/..").substr(random() % 11, length));
    }
  }
  return text;
}

TEST(Hostile, RandomHeadsAreReadOrRefused) {
  Random random(7);
  for (int k = 0; k < 100000; ++k) {
    const std::string text =
        (random() % 4 == 0 ? random_bytes(random, 200) : mutated(valid_request(random), random)) +
        "\r\n\r\n";
    const std::string_view head = std::string_view(text).substr(0, serve::head_length(text));
    const serve::RequestHead result = serve::read_head(head);
    EXPECT_NE(result.refusal.has_value(), !result.text.empty());
    if (!result.refusal) {
      EXPECT_EQ(result.text.find('\0'), std::string::npos);
      EXPECT_EQ(serve::head_length(result.text), result.text.size());
    }
  }
}

TEST(Hostile, RandomRequestsLeaveTheServerAnswering) {
  ServedFolder served(impatient);
  served.add_run("one");
  get_until(served.port(), "/api/v1/runs", "one");
  Random random(11);
  const auto end = std::chrono::steady_clock::now() + seconds(3);
  for (int k = 0; k < 20000 && std::chrono::steady_clock::now() < end; ++k) {
    Client client(served.port());
    client.send(random() % 4 == 0 ? random_bytes(random, 3000)
                                  : mutated(valid_request(random), random));
    if (random() % 2 == 0)
      client.read_until([](const std::string&) { return false; }, milliseconds(2));
    if (k % 100 == 0) {
      EXPECT_TRUE(is_answering(served));
    }
  }
  EXPECT_TRUE(is_answering(served));
}

}  // namespace
}  // namespace flightdeck::tests
