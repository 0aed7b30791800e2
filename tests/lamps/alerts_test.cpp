// SPDX-License-Identifier: MIT
#include "flightdeck/alerts.h"

#include <arpa/inet.h>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <netinet/in.h>
#include <sstream>
#include <stdexcept>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

#include "tests/record/runs.h"

namespace flightdeck {
namespace {

using tests::RunFolder;

Finding finding_of(const std::string& lamp) {
  Finding finding;
  finding.lamp = lamp;
  finding.severity = Severity::kWarning;
  finding.step = 40;
  finding.quantity = "alpha";
  finding.symptom = "The \"steps\" are too long";
  finding.evidence = "alpha is 2";
  return finding;
}

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Answers one request on the loopback with `answer`; keeps silent if that is empty.
class OneAnswer {
 public:
  explicit OneAnswer(std::string answer) : listening_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ::bind(listening_, reinterpret_cast<sockaddr*>(&address), sizeof address);
    ::listen(listening_, 4);
    socklen_t size = sizeof address;
    ::getsockname(listening_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    if (!answer.empty()) thread_ = std::thread([this, answer] { serve(answer); });
  }
  ~OneAnswer() {
    if (thread_.joinable()) thread_.join();
    ::close(listening_);
  }

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/hook?a=1"; }
  // What was asked; waits for it.
  std::string request() {
    if (thread_.joinable()) thread_.join();
    return request_;
  }

 private:
  void serve(const std::string& answer) {
    const int client = ::accept(listening_, nullptr, nullptr);
    char bytes[4096];
    while (request_.find("}") == std::string::npos) {
      const ssize_t got = ::recv(client, bytes, sizeof bytes, 0);
      if (got <= 0) break;
      request_.append(bytes, static_cast<size_t>(got));
    }
    ::send(client, answer.data(), answer.size(), MSG_NOSIGNAL);
    ::close(client);
  }

  int listening_;
  int port_ = 0;
  std::string request_;
  std::thread thread_;
};

class Alerts : public testing::Test {
 protected:
  Alerts() {
    std::filesystem::create_directories(folder_.path());
    options_.run = "runs/first";
    options_.limit_s = 5;
    options_.on_warning = [this](const std::string& text) {
      const std::lock_guard<std::mutex> lock(mutex_);
      warnings_.push_back(text);
    };
  }

  // Tells so many findings and waits until they are sent or given up. Returns the seconds that the
  // telling took, which is what a training would wait.
  double tell(int64_t count = 1) {
    const OnFinding alert = alerts(options_);
    const auto begin = std::chrono::steady_clock::now();
    for (int64_t k = 0; k < count; ++k) alert(finding_of("long_steps"), diagnosis_);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

  std::vector<std::string> warnings() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return warnings_;
  }

  RunFolder folder_;
  AlertOptions options_;
  Diagnosis diagnosis_;
  std::mutex mutex_;
  std::vector<std::string> warnings_;
};

TEST_F(Alerts, GiveACommandTheFindingOnItsInputAndInItsEnvironment) {
  const std::string path = folder_.path();
  options_.command = "cat > " + path +
                     ".json; printf '%s %s %s %s' \"$FLIGHTDECK_RUN\" "
                     "$FLIGHTDECK_LAMP $FLIGHTDECK_SEVERITY $FLIGHTDECK_STEP > " +
                     path + ".words";
  diagnosis_.sentence = "The learning rate is too high";
  tell();
  EXPECT_EQ(text_of(path + ".json"),
            R"({"run":"runs/first","lamp":"long_steps","severity":"warning","step":40,)"
            R"("quantity":"alpha","symptom":"The \"steps\" are too long","evidence":"alpha is 2",)"
            R"("cause":"","advice":"","page":"","diagnosis":"The learning rate is too high"})");
  EXPECT_EQ(text_of(path + ".words"), "runs/first long_steps warning 40");
  EXPECT_TRUE(warnings().empty());
}

TEST_F(Alerts, LinkToThePageOfTheCauseThatIsClaimedElseToThatOfTheLamp) {
  Finding finding = finding_of("long_steps");
  finding.page = "docs/dashboard.md#lamps";
  RankedCause cause;
  cause.page = "docs/causes.md#learning_rate_too_high";
  diagnosis_.causes = {cause};
  const auto has = [&](const char* page) {
    const std::string json = alert_json("", finding, diagnosis_);
    return json.find("\"page\":\"" + std::string(page) + "\"") != std::string::npos;
  };
  EXPECT_TRUE(has("docs/dashboard.md#lamps"));
  diagnosis_.verdict = Verdict::kFault;
  EXPECT_TRUE(has("docs/causes.md#learning_rate_too_high"));
}

TEST_F(Alerts, KillACommandThatHangsWithAllThatItStarted) {
  options_.limit_s = 1;
  options_.command = "sleep 100 & echo $! > " + folder_.path() + ".pid; sleep 100";
  tell();
  ASSERT_EQ(warnings().size(), 1u);
  int child = 0;
  std::istringstream(text_of(folder_.path() + ".pid")) >> child;
  ASSERT_GT(child, 0);
  // Gone, or a zombie that its parent has not asked after; the kernel takes its time over that.
  std::string stat;
  for (int look = 0; look < 1000; ++look) {
    stat = text_of("/proc/" + std::to_string(child) + "/stat");
    if (stat.empty() || stat.find(") Z ") != std::string::npos) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  FAIL() << stat;
}

TEST_F(Alerts, NeverKeepTheTrainingHoweverManyWait) {
  options_.limit_s = 0.15;
  options_.most_waiting = 2;
  options_.command = "sleep 100";
  EXPECT_LT(tell(200), 200 * options_.limit_s / 2);  // had it waited for each
  ASSERT_EQ(warnings().size(), 1u);
  EXPECT_NE(warnings()[0].find("an alert is left out: 2 others wait"), std::string::npos);
}

TEST_F(Alerts, SayOnceThatACommandFails) {
  options_.command = "cat > /dev/null; exit 3";
  tell(3);
  ASSERT_EQ(warnings().size(), 1u);
  EXPECT_NE(warnings()[0].find("' ended with status 3"), std::string::npos) << warnings()[0];
}

TEST_F(Alerts, TakeNoHarmFromACommandThatReadsNothing) {
  options_.command = "true";
  tell(3);
  EXPECT_TRUE(warnings().empty());
}

TEST_F(Alerts, PostTheFindingToAWebhook) {
  OneAnswer server("HTTP/1.1 204 No Content\r\n\r\n");
  options_.webhook = server.url();
  tell();
  const std::string request = server.request();
  EXPECT_EQ(request.rfind("POST /hook?a=1 HTTP/1.1\r\nHost: 127.0.0.1:", 0), 0u) << request;
  EXPECT_NE(request.find("\r\n\r\n{\"run\":\"runs/first\",\"lamp\":\"long_steps\""),
            std::string::npos);
  EXPECT_TRUE(warnings().empty());
}

TEST_F(Alerts, FollowNoRedirectionOfAWebhook) {
  OneAnswer elsewhere("");
  OneAnswer server("HTTP/1.1 302 Found\r\nLocation: " + elsewhere.url() + "\r\n\r\n");
  options_.webhook = server.url();
  tell();
  ASSERT_EQ(warnings().size(), 1u);
  EXPECT_NE(warnings()[0].find("answered '302 Found'"), std::string::npos) << warnings()[0];
}

TEST_F(Alerts, GiveUpAWebhookThatNeverAnswers) {
  OneAnswer silent("");
  options_.webhook = silent.url();
  options_.limit_s = 0.15;
  EXPECT_LT(tell(), 0.1);
  EXPECT_EQ(warnings().size(), 1u);
}

TEST_F(Alerts, SayThatAWebhookCannotBeReached) {
  std::string url;
  {
    OneAnswer gone("");
    url = gone.url();
  }
  options_.webhook = url;
  tell();
  ASSERT_EQ(warnings().size(), 1u);
  EXPECT_NE(warnings()[0].find("cannot be reached: Connection refused"), std::string::npos);
}

TEST_F(Alerts, RefuseWhatIsNoAddress) {
  for (const char* url : {"https://example.org/a",
                          "example.org",
                          "http://",
                          "http://:80/",
                          "http://host:port/",
                          "http://host:/",
                          "http://user@host/",
                          "http://host/a b",
                          "http://host/\r\nX: y"}) {
    options_.webhook = url;
    EXPECT_THROW((void)alerts(options_), std::invalid_argument) << url;
  }
  options_.webhook.clear();
  EXPECT_THROW((void)alerts(options_), std::invalid_argument);
}

}  // namespace
}  // namespace flightdeck
