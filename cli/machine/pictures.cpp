// SPDX-License-Identifier: MIT
#include "cli/machine/pictures.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <unistd.h>

#include <c10/util/Exception.h>

#include "study/child.h"

namespace flightdeck::cli {
namespace {

// The zoom is two, because letters of 11 pixels are hard to read on paper.
constexpr const char* kZoom = "2";
constexpr int kLowestWindow = 200;

struct Size {
  int width = 0, height = 0;
};

// Reads width and height from the first tag of an SVG of ours.
Size size_of(const std::string& svg) {
  std::ifstream file(svg);
  std::string tag;
  std::getline(file, tag);
  const auto number = [&](const std::string& name) {
    const size_t at = tag.find(" " + name + "=\"");
    return at == std::string::npos ? 800 : std::atoi(tag.c_str() + at + name.size() + 3);
  };
  return {number("width"), number("height")};
}

}  // namespace

ScratchFolder::ScratchFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "flightdeck-XXXXXX").string();
  TORCH_CHECK(::mkdtemp(name.data()) != nullptr,
              "pictures: cannot make a folder ",
              name,
              "; TMPDIR names another place");
  path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string first_program(const std::vector<std::string>& names) {
  const char* folders = std::getenv("PATH");
  if (folders == nullptr) return "";
  for (const std::string& name : names) {
    std::stringstream list(folders);
    for (std::string folder; std::getline(list, folder, ':');) {
      const std::string path = folder + "/" + name;
      if (!folder.empty() && ::access(path.c_str(), X_OK) == 0) return path;
    }
  }
  return "";
}

std::string browser_program() {
  return first_program({"chromium", "chromium-browser", "google-chrome"});
}

std::vector<std::string> browser_arguments(const std::string& browser, const std::string& profile) {
  std::vector<std::string> arguments = {browser,
                                        "--headless",
                                        "--disable-gpu",
                                        "--hide-scrollbars",
                                        "--no-first-run",
                                        "--user-data-dir=" + profile};
  // Chromium refuses to start for root with its sandbox; it opens files of ours and nothing else.
  if (::geteuid() == 0) arguments.push_back("--no-sandbox");
  return arguments;
}

std::string make_by_program(const std::vector<std::string>& arguments,
                            const std::string& out,
                            int seconds) {
  std::vector<std::string> limited = {"timeout", std::to_string(seconds)};
  limited.insert(limited.end(), arguments.begin(), arguments.end());
  const std::string program = std::filesystem::path(arguments.front()).filename().string();
  study::ChildOutput answer;
  try {
    answer = study::output_of(limited);
  } catch (const std::exception& error) {
    return program + ": " + error.what();
  }
  if (answer.status == 124) {
    return program + " took longer than " + std::to_string(seconds) + " s";
  }
  std::error_code ignored;
  if (answer.status == 0 && std::filesystem::exists(out, ignored)) return "";
  const std::string said = answer.error.substr(0, answer.error.find('\n'));
  return program + " ended with status " + std::to_string(answer.status) +
         (said.empty() ? "" : ": " + said);
}

std::string png_of_svg(const std::string& svg, const std::string& png) {
  const std::string converter = first_program({"rsvg-convert"});
  if (!converter.empty()) {
    const std::string fault =
        make_by_program({converter, "--zoom", kZoom, "-o", png, svg}, png, /*seconds=*/60);
    return fault.empty() ? "" : "No PNG: " + fault + ".";
  }
  const std::string browser = browser_program();
  if (browser.empty()) {
    return "No PNG: neither rsvg-convert (librsvg2-bin) nor chromium is in PATH; the SVG opens in "
           "any browser.";
  }
  const ScratchFolder profile;
  Size size = size_of(svg);
  // Chromium leaves out what lies below the first third of a window that is lower than this.
  size.height = std::max(size.height, kLowestWindow);
  std::vector<std::string> arguments = browser_arguments(browser, profile.path());
  arguments.insert(
      arguments.end(),
      {"--screenshot=" + png,
       "--window-size=" + std::to_string(size.width) + "," + std::to_string(size.height),
       std::string("--force-device-scale-factor=") + kZoom,
       "file://" + std::filesystem::absolute(svg).string()});
  const std::string fault = make_by_program(arguments, png, /*seconds=*/60);
  return fault.empty() ? "" : "No PNG: " + fault + ".";
}

}  // namespace flightdeck::cli
