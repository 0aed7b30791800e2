// SPDX-License-Identifier: MIT
#include "tests/serve/client.h"

#include <arpa/inet.h>
#include <cstdlib>
#include <filesystem>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <thread>

#include <gtest/gtest.h>

#include "tests/record/runs.h"

namespace flightdeck::tests {

namespace {

using Clock = std::chrono::steady_clock;

std::string lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// Takes the head off `text`.
Reply read_head(std::string& text) {
  Reply reply;
  const size_t end = text.find("\r\n\r\n");
  if (end == std::string::npos || text.compare(0, 5, "HTTP/") != 0) return reply;
  reply.status = std::atoi(text.c_str() + 9);
  for (size_t line = text.find("\r\n") + 2; line < end;) {
    const size_t line_end = text.find("\r\n", line);
    const size_t colon = text.find(':', line);
    reply.headers[lower_case(text.substr(line, colon - line))] =
        text.substr(colon + 2, line_end - colon - 2);
    line = line_end + 2;
  }
  text.erase(0, end + 4);
  return reply;
}

}  // namespace

ServedFolder::ServedFolder(const std::function<void(serve::ServerOptions&)>& change) {
  path_ = (std::filesystem::temp_directory_path() / "serve_test.XXXXXX").string();
  if (::mkdtemp(path_.data()) == nullptr) ADD_FAILURE() << "no temporary folder " << path_;
  options_.folder = path_;
  options_.refresh_ms = 20;
  if (change) change(options_);
  server_ = std::make_unique<serve::Server>(options_);
  server_->start();
}

ServedFolder::~ServedFolder() {
  server_.reset();
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void ServedFolder::restart() {
  options_.port = port();
  server_.reset();
  server_ = std::make_unique<serve::Server>(options_);
  server_->start();
}

void ServedFolder::add_run(const std::string& id, int64_t steps) const {
  // Appears as a whole: a server that saw it grow would tell of it several times.
  const std::string hidden = path_ + "/.recorded", shown = path_ + "/" + id;
  {
    Recorder recorder(hidden);
    recorder.begin(full_info());
    for (int64_t step = 0; step < steps; ++step) {
      recorder.write(step_of(step, {number("loss", 1.0 / (1.0 + static_cast<double>(step)))}));
    }
    recorder.finish(Ending::kFinished);
  }
  std::filesystem::create_directories(std::filesystem::path(shown).parent_path());
  std::filesystem::rename(hidden, shown);
}

Client::Client(int port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  struct sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket_.descriptor(),
                reinterpret_cast<const struct sockaddr*>(&address),
                sizeof address) != 0) {
    ADD_FAILURE() << "cannot connect to port " << port;
  }
}

bool Client::send(std::string_view bytes) { return serve::send_all(socket_, bytes, kPatience); }

void Client::close_sending() { ::shutdown(socket_.descriptor(), SHUT_WR); }

bool Client::receive(std::chrono::milliseconds at_most) {
  if (is_over_) return false;
  if (serve::wait_to_read(socket_, at_most) == serve::Wait::kTimeout) return false;
  char bytes[65536];
  const ssize_t count = ::recv(socket_.descriptor(), bytes, sizeof bytes, 0);
  is_over_ = count <= 0;
  if (!is_over_) received_.append(bytes, static_cast<size_t>(count));
  return !is_over_;
}

bool Client::read_until(const std::function<bool(const std::string&)>& is_enough,
                        std::chrono::milliseconds at_most) {
  const auto deadline = Clock::now() + at_most;
  while (!is_enough(received_)) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    if (left.count() <= 0 || !receive(left)) return false;
  }
  return true;
}

bool Client::is_hung_up_within(std::chrono::milliseconds at_most) {
  read_until([](const std::string&) { return false; }, at_most);
  return is_over_;
}

std::string Client::dechunked() {
  std::string body;
  for (;;) {
    read_until([](const std::string& text) { return text.find("\r\n") != std::string::npos; });
    const size_t size = std::strtoul(received_.c_str(), nullptr, 16);
    const size_t begin = received_.find("\r\n") + 2;
    if (!read_until([&](const std::string& text) { return text.size() >= begin + size + 2; })) {
      ADD_FAILURE() << "a chunk is incomplete";
      return body;
    }
    body += received_.substr(begin, size);
    received_.erase(0, begin + size + 2);
    if (size == 0) return body;
  }
}

Reply Client::reply() {
  read_until([](const std::string& text) { return text.find("\r\n\r\n") != std::string::npos; });
  Reply reply = read_head(received_);
  if (reply.headers.count("transfer-encoding") != 0) {
    reply.body = dechunked();
  } else if (reply.headers.count("content-length") != 0) {
    const size_t size = std::stoul(reply.headers["content-length"]);
    read_until([&](const std::string& text) { return text.size() >= size; });
    reply.body = received_.substr(0, size);
    received_.erase(0, size);
  }
  return reply;
}

Reply get(int port,
          const std::string& target,
          const HeaderLines& lines,
          const std::string& method) {
  std::string text = method + " " + target + " HTTP/1.1\r\nConnection: close\r\n";
  bool has_host = false;
  for (const std::string& line : lines) {
    text += line + "\r\n";
    has_host |= line.compare(0, 5, "Host:") == 0;
  }
  if (!has_host) text += "Host: 127.0.0.1:" + std::to_string(port) + "\r\n";
  Client client(port);
  client.send(text + "\r\n");
  if (method != "HEAD") return client.reply();
  client.read_until([](const std::string&) { return false; });
  std::string received = client.received();
  Reply reply = read_head(received);
  reply.body = received;
  return reply;
}

Reply get_until(int port, const std::string& target, const std::string& text) {
  const auto deadline = Clock::now() + kPatience;
  Reply reply = get(port, target);
  while (reply.body.find(text) == std::string::npos && Clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    reply = get(port, target);
  }
  return reply;
}

std::unique_ptr<Client> open_events(int port, const std::string& last_event_id) {
  auto client = std::make_unique<Client>(port);
  client->send("GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n" +
               (last_event_id.empty() ? "" : "Last-Event-ID: " + last_event_id + "\r\n") + "\r\n");
  client->read_until(
      [](const std::string& text) { return text.find("\r\n\r\n") != std::string::npos; });
  return client;
}

}  // namespace flightdeck::tests
