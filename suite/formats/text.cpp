// SPDX-License-Identifier: MIT
#include "suite/formats/text.h"

#include <algorithm>
#include <map>

#include <ATen/ATen.h>

#include "src/base/limits.h"
#include "src/base/plain_file.h"

namespace flightdeck::suite {
namespace {

// Erases lines `first` to `last`, counted from 1.
void erase_lines(std::vector<std::string>& lines, size_t first, size_t last) {
  const auto place = [&](size_t n) {
    return lines.begin() + static_cast<std::ptrdiff_t>(std::min(n, lines.size()));
  };
  lines.erase(place(first - 1), place(last));
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size() - 1);
    lines.push_back(text.substr(begin, end + 1 - begin));
    begin = end + 1;
  }
  return lines;
}

}  // namespace

std::string read_text(const std::string& path) {
  try {
    return read_plain(path, limits::kTextBytes);
  } catch (const std::runtime_error& error) {
    TORCH_CHECK(false, "data: ", error.what(), "; check the file and its permissions");
  }
}

std::vector<char32_t> decode_utf8(const std::string& bytes, const std::string& path) {
  std::vector<char32_t> characters;
  characters.reserve(bytes.size());
  for (size_t i = 0; i < bytes.size();) {
    const auto lead = static_cast<unsigned char>(bytes[i]);
    const size_t length = lead < 0x80 ? 1 : lead >> 5 == 6 ? 2 : lead >> 4 == 14 ? 3 : 4;
    bool is_valid = (lead < 0x80 || lead >= 0xc2) && lead < 0xf5 && i + length <= bytes.size();
    char32_t character = length == 1 ? lead : lead & (0xff >> (length + 1));
    for (size_t k = 1; is_valid && k < length; ++k) {
      const auto next = static_cast<unsigned char>(bytes[i + k]);
      is_valid = next >> 6 == 2;
      character = character << 6 | (next & 0x3f);
    }
    TORCH_CHECK(is_valid,
                "data: ",
                path,
                " is not UTF-8: byte ",
                i,
                " is ",
                static_cast<int>(lead),
                " where a character should begin; convert the file to UTF-8 or fetch it again");
    i += length;
    const bool is_mark = character == 0xfeff && characters.empty();  // of the byte order
    if (character != U'\r' && !is_mark) characters.push_back(character);
  }
  return characters;
}

std::string without_frame(const std::string& text) {
  constexpr size_t kHeader = 4096;
  if (text.substr(0, kHeader).find("Project Gutenberg") == std::string::npos) return text;
  std::vector<std::string> lines = lines_of(text);
  erase_lines(lines, 1, 29);
  erase_lines(lines, 5, 775);
  erase_lines(lines, 63850, 64207);
  std::string rest;
  for (const std::string& line : lines) rest += line;
  return rest;
}

at::Tensor ranks_of(const std::vector<char32_t>& characters,
                    int64_t vocabulary,
                    const std::string& path) {
  struct Use {
    char32_t character;
    int64_t count, first;
  };
  std::map<char32_t, size_t> place_of;
  std::vector<Use> uses;
  for (size_t i = 0; i < characters.size(); ++i) {
    const auto [entry, is_new] = place_of.emplace(characters[i], uses.size());
    if (is_new) uses.push_back({characters[i], 0, static_cast<int64_t>(i)});
    ++uses[entry->second].count;
  }
  TORCH_CHECK(static_cast<int64_t>(uses.size()) <= vocabulary,
              "data: ",
              path,
              " has ",
              uses.size(),
              " different characters but the networks know ",
              vocabulary,
              "; use the plain text of War and Peace in English");
  std::stable_sort(uses.begin(), uses.end(), [](const Use& a, const Use& b) {
    return a.count != b.count ? a.count > b.count : a.first < b.first;
  });
  std::map<char32_t, uint8_t> rank_of;
  for (size_t rank = 0; rank < uses.size(); ++rank) {
    rank_of[uses[rank].character] = static_cast<uint8_t>(rank);
  }
  at::Tensor ranks = at::empty({static_cast<int64_t>(characters.size())}, at::kByte);
  uint8_t* out = ranks.data_ptr<uint8_t>();
  for (const char32_t character : characters) *out++ = rank_of.at(character);
  return ranks;
}

}  // namespace flightdeck::suite
