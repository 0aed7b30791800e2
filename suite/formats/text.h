// SPDX-License-Identifier: MIT
// Reads a text file as numbers of characters.
#pragma once

#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

namespace flightdeck::suite {

/// Returns the bytes of the file. Throws, naming it, if it cannot be read, is no plain file or too
/// long.
std::string read_text(const std::string& path);

/// Returns the code points of a UTF-8 text, with line ends of one character. Throws, naming `path`
/// and the place, if it is not UTF-8.
std::vector<char32_t> decode_utf8(const std::string& bytes, const std::string& path);

/// Returns the characters of War and Peace: without the lines before and behind the novel if the
/// text begins with Project Gutenberg's header, else all.
std::string without_frame(const std::string& text);

/// Returns each character's rank by frequency, [n] uint8; among equals the one that comes first in
/// the text has the smaller rank. Throws if there are more than `vocabulary` different ones.
at::Tensor ranks_of(const std::vector<char32_t>& characters,
                    int64_t vocabulary,
                    const std::string& path);

}  // namespace flightdeck::suite
