// SPDX-License-Identifier: MIT
#include "cli/machine/pictures.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

namespace flightdeck::cli {
namespace {

// A PATH with nothing but a browser that notes what it was asked for.
class PicturesByABrowser : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = std::getenv("PATH");
    const std::string timeout = first_program({"timeout"}), touch = first_program({"touch"});
    ASSERT_FALSE(timeout.empty() || touch.empty());
    std::filesystem::create_symlink(timeout, folder_.path() + "/timeout");
    const std::string browser = folder_.path() + "/chromium";
    std::ofstream(browser) << "#!/bin/sh\necho \"$@\" > " << folder_.path() << "/asked\n"
                           << touch << ' ' << folder_.path() << "/figure.png\n";
    std::filesystem::permissions(browser, std::filesystem::perms::owner_all);
    setenv("PATH", folder_.path().c_str(), 1);
  }
  void TearDown() override { setenv("PATH", path_.c_str(), 1); }

  std::string asked_for(int width, int height) {
    const std::string svg = folder_.path() + "/figure.svg";
    std::ofstream(svg) << "<svg width=\"" << width << "\" height=\"" << height << "\"></svg>\n";
    EXPECT_EQ(png_of_svg(svg, folder_.path() + "/figure.png"), "");
    std::stringstream text;
    text << std::ifstream(folder_.path() + "/asked").rdbuf();
    return text.str();
  }

 private:
  ScratchFolder folder_;
  std::string path_;
};

TEST_F(PicturesByABrowser, HaveTheSizeOfTheDrawing) {
  EXPECT_NE(asked_for(900, 600).find("--window-size=900,600 "), std::string::npos);
}

TEST_F(PicturesByABrowser, AreNeverSoLowThatItLeavesOutTheirEnd) {
  EXPECT_NE(asked_for(456, 140).find("--window-size=456,200 "), std::string::npos);
}

}  // namespace
}  // namespace flightdeck::cli
