// SPDX-License-Identifier: MIT
// JSON that others may have written: plans, outcomes, requests.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace flightdeck::study {

using Json = nlohmann::ordered_json;

// Throws std::runtime_error or nlohmann's exception if the text is too long, nested too deeply or
// no JSON.
Json parsed(const std::string& text);

// Returns the whole number called `key`. Throws as `Json::at`, and std::runtime_error if it is
// another value: conversion would round it, or have no defined result.
int64_t integer_at(const Json& json, const char* key);
uint64_t natural_at(const Json& json, const char* key);

}  // namespace flightdeck::study
