// SPDX-License-Identifier: MIT
#include "serve/events.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>

namespace flightdeck::serve {

namespace {

// A stream may take this long to notice that its client has left.
constexpr int64_t kLookMs = 2000;

using Clock = std::chrono::steady_clock;

// Follows the changes for one client.
class EventStream {
 public:
  EventStream(const RunShelf& shelf, wire::ServerInfo server, std::optional<int64_t> cursor)
      : shelf_(shelf), server_(std::move(server)), cursor_(cursor) {}

  // Waits for changes and tells them. Returns false when the client is gone or the shelf stops.
  bool go_on(Outlet& out) {
    if (!has_begun_) return begin(out);
    if (!shelf_.wait_behind(*cursor_, kLookMs) || !out.is_open()) return false;
    const ShelfChanges changes = shelf_.since(*cursor_);
    if (!changes.is_complete) cursor_.reset();
    if (!cursor_) return begin(out);
    if (changes.change > *cursor_) return tell(changes, out);
    if (Clock::now() - last_ < std::chrono::milliseconds(kHeartbeatMs)) return true;
    return send(": still here\n\n", out);
  }

 private:
  bool begin(Outlet& out) {
    has_begun_ = true;
    if (cursor_ && shelf_.since(*cursor_).is_complete) {
      return send("retry: 1000\n\n", out) && tell(shelf_.since(*cursor_), out);
    }
    cursor_ = 0;
    shelf_.list();  // waits for the first look, so that a page is not told of runs one by one
    ShelfChanges changes = shelf_.since(0);
    changes.gone.clear();
    return send("retry: 1000\n\n" + event("reset", 0, wire::to_json(server_)), out) &&
           tell(changes, out);
  }

  bool tell(const ShelfChanges& changes, Outlet& out) {
    // Events go by change, so that a client that gets only some of them goes on behind those.
    std::string text;
    auto gone = changes.gone.begin();
    const auto tell_gone = [&](int64_t before) {
      for (; gone != changes.gone.end() && gone->change < before; ++gone) {
        text += event("gone", gone->change, wire::to_json(*gone));
      }
    };
    for (const wire::RunSummary& run : changes.runs) {
      tell_gone(run.change);
      text += event("run", run.change, wire::to_json(run));
    }
    tell_gone(changes.change + 1);
    cursor_ = changes.change;
    return send(text, out);
  }

  std::string event(const char* name, int64_t change, const std::string& json) const {
    return "event: " + std::string(name) + "\nid: " + server_.epoch + "-" + std::to_string(change) +
           "\ndata: " + json + "\n\n";
  }

  bool send(const std::string& text, Outlet& out) {
    last_ = Clock::now();
    return out.write(text);
  }

  const RunShelf& shelf_;
  const wire::ServerInfo server_;
  std::optional<int64_t> cursor_;
  bool has_begun_ = false;
  Clock::time_point last_{};
};

// Returns the change in "<epoch>-<change>", if the epoch is ours.
std::optional<int64_t> cursor_in(const std::string& last_event, const std::string& epoch) {
  if (last_event.compare(0, epoch.size() + 1, epoch + "-") != 0) return std::nullopt;
  const char* begin = last_event.data() + epoch.size() + 1;
  const char* end = last_event.data() + last_event.size();
  int64_t change = 0;
  const auto [stop, error] = std::from_chars(begin, end, change);
  if (error != std::errc() || stop != end || change < 0) return std::nullopt;
  return change;
}

}  // namespace

Response Events::answer(const Request& request) {
  // The stream counts as open as long as the library holds the answer.
  const std::shared_ptr<void> place(nullptr, [open = open_](void*) { --*open; });
  if (++*open_ > kEventStreams) {
    throw Refused(503,
                  std::to_string(kEventStreams) + " event streams are open",
                  "close some pages of this server");
  }
  const auto stream = std::make_shared<EventStream>(
      shelf_, server_, cursor_in(request.header("last-event-id"), server_.epoch));
  Response answer;
  answer.type = "text/event-stream";
  answer.headers = {{"Cache-Control", "no-store"}};
  answer.stream = [stream, place](Outlet& out) { return stream->go_on(out); };
  return answer;
}

}  // namespace flightdeck::serve
