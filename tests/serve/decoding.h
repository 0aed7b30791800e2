// SPDX-License-Identifier: MIT
// Undoes what serve/encoding.h does.
#pragma once

#include <string>

namespace flightdeck::tests {

std::string decode_base64(const std::string& text);
std::string gunzip(const std::string& bytes);

}  // namespace flightdeck::tests
