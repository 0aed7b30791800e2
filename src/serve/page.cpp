// SPDX-License-Identifier: MIT
#include "serve/page.h"

#include <cstdint>
#include <map>

#include "serve/assets.h"

namespace flightdeck::serve {

namespace {

// Hashes the bytes by FNV-1a, which tells one build of the page from another.
std::string tag_of(std::string_view bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  std::string text = "\"";
  for (int shift = 60; shift >= 0; shift -= 4) text += "0123456789abcdef"[(hash >> shift) & 15];
  return text + "\"";
}

struct TaggedAsset {
  const Asset* asset;
  std::string tag;
};

const std::map<std::string, TaggedAsset>& files() {
  static const std::map<std::string, TaggedAsset> all = [] {
    std::map<std::string, TaggedAsset> made;
    for (const Asset& asset : assets()) made["/" + asset.name] = {&asset, tag_of(asset.bytes)};
    made["/"] = made["/index.html"];
    return made;
  }();
  return all;
}

}  // namespace

std::optional<Response> page_file(const Request& request) {
  const auto found = files().find(request.path);
  if (found == files().end()) return std::nullopt;
  const auto& [asset, tag] = found->second;
  Response answer;
  answer.headers = {{"ETag", tag}, {"Cache-Control", "no-cache"}};
  if (request.header("if-none-match") == tag) {
    answer.status = 304;
    return answer;
  }
  answer.type = asset->type;
  answer.body = asset->bytes;
  return answer;
}

}  // namespace flightdeck::serve
