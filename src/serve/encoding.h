// SPDX-License-Identifier: MIT
// Bytes as text of a page.
#pragma once

#include <string>
#include <string_view>

namespace flightdeck::serve {

// Packs bytes as in RFC 1952, for the browser's DecompressionStream.
std::string gzip(const std::string& bytes);

// Encodes bytes as in RFC 4648, with padding.
std::string base64(std::string_view bytes);

// Escapes text for a place between tags or in a quoted attribute.
std::string html_text(const std::string& text);

}  // namespace flightdeck::serve
