// SPDX-License-Identifier: MIT
#include "study/launcher.h"

#include <stdexcept>

#include <gtest/gtest.h>

#include "study/child.h"

namespace flightdeck::study {
namespace {

using Words = std::vector<std::string>;

const Words kHostile = {
    "/a b/flightdeck", "run", "it's", "$HOME", "`id`", "{host}", "a\nb", "", "*"};

std::string refusal(const std::string& text, const Words& hosts = {}) {
  try {
    Launcher(text, hosts);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(Launcher, FillsHostAndSlotAndLetsHostsTakeTurns) {
  const Launcher launcher("ssh -p '2 2' {host} nice{slot} {words}", {"a", "b"});
  EXPECT_EQ(launcher.start_of({"flightdeck", "run"}, 0),
            (Words{"ssh", "-p", "2 2", "a", "nice0", "flightdeck", "run"}));
  EXPECT_EQ(launcher.start_of({"run"}, 3), (Words{"ssh", "-p", "2 2", "b", "nice3", "run"}));
}

TEST(Launcher, GivesAShellTheVeryWordsOfTheCommand) {
  for (const char* text : {"sh -c {command}", "sh -c 'exec {command}'", "env {words}"}) {
    Words command = {"printf", "%s|"};
    command.insert(command.end(), kHostile.begin(), kHostile.end());
    const ChildOutput printed = output_of(Launcher(text, {}).start_of(command, 0));
    std::string expected;
    for (const std::string& word : kHostile) expected += word + "|";
    EXPECT_EQ(printed.out, expected) << text;
  }
}

TEST(Launcher, SplitsAsAShellDoesButReplacesNothing) {
  const Launcher launcher(R"(env  A="x \"y\" \z $B" '' C\ D {words})", {});
  EXPECT_EQ(launcher.start_of({"run"}, 0), (Words{"env", R"(A=x "y" \z $B)", "", "C D", "run"}));
}

TEST(Launcher, LeavesOrdinaryBracesAlone) {
  const Launcher launcher("awk '{print $1}' {} {words}", {});
  EXPECT_EQ(launcher.start_of({"run"}, 0), (Words{"awk", "{print $1}", "{}", "run"}));
}

TEST(Launcher, RefusesTemplatesThatCannotStartARun) {
  EXPECT_NE(refusal("ssh node").find("names the run's command 0 times"), std::string::npos);
  EXPECT_NE(refusal("").find("0 times"), std::string::npos);
  EXPECT_NE(refusal("sh -c {command} {words}").find("2 times"), std::string::npos);
  EXPECT_NE(refusal("sh -c 'x {words}'").find("inside of a word"), std::string::npos);
  EXPECT_NE(refusal("ssh {node} {command}").find("has {node}"), std::string::npos);
  EXPECT_NE(refusal("ssh {host} {command}").find("no hosts"), std::string::npos);
  EXPECT_NE(refusal("ssh n{slot} {command}", {"a"}).find("hosts are named"), std::string::npos);
  EXPECT_NE(refusal("sh -c '{command}").find("without its second one"), std::string::npos);
  EXPECT_NE(refusal("sh {words} \\").find("backslash"), std::string::npos);
  EXPECT_NE(refusal("{words}").find("begins with"), std::string::npos);
}

}  // namespace
}  // namespace flightdeck::study
