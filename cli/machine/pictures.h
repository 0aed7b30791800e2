// SPDX-License-Identifier: MIT
// Pictures that other programs make of ours: a converter of SVG, a browser without a window. None
// of them has to be there.
#pragma once

#include <string>
#include <vector>

namespace flightdeck::cli {

// A new folder for what is thrown away; it goes with the value.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Returns the first of `names` that PATH has, as a whole path; empty if it has none.
std::string first_program(const std::vector<std::string>& names);

// Returns the browser that prints pages: chromium under one of its names; empty if there is none.
std::string browser_program();

// Runs a program for at most `seconds`. Returns what went wrong, in a sentence without a full stop;
// empty if it ended well and `out` is there.
std::string make_by_program(const std::vector<std::string>& arguments,
                            const std::string& out,
                            int seconds);

// Converts by rsvg-convert, or by Chromium. Returns why there is no PNG; empty if there is one.
std::string png_of_svg(const std::string& svg, const std::string& png);

// Returns arguments that start the browser without a window, with a profile of its own in
// `profile`.
std::vector<std::string> browser_arguments(const std::string& browser, const std::string& profile);

}  // namespace flightdeck::cli
