// SPDX-License-Identifier: MIT
#include "flightdeck/settings.h"

#include <gtest/gtest.h>

#include "errors.h"
#include "flightdeck/quantity.h"

namespace flightdeck::tests {
namespace {

TEST(Settings, AreReadByKind) {
  Settings settings({{"bins", 50}, {"low", -0.1}, {"adapt", true}, {"kind", "ggn"}});
  EXPECT_EQ(settings.integer("bins", 100, "number of bins"), 50);
  EXPECT_EQ(settings.number("low", -2, "lower end"), -0.1);
  EXPECT_EQ(settings.number("high", 2, "upper end"), 2);
  EXPECT_TRUE(settings.flag("adapt", false, "follow the values"));
  EXPECT_EQ(settings.choice("kind", {"hessian", "ggn"}, "matrix"), "ggn");
  settings.check_all_known();
  ASSERT_EQ(settings.declared().size(), 5u);
  EXPECT_EQ(settings.declared()[2].name, "high");
  EXPECT_EQ(settings.declared()[2].default_text, "2");
}

TEST(Settings, ReadBackTheSameNumber) {
  for (const double number : {0.1, 1e-7, 1.0 / 3, -12345.678, 1e300}) {
    Settings settings({{"x", number}});
    EXPECT_EQ(settings.number("x", 0, ""), number);
  }
}

TEST(Settings, ParseTextOfPairs) {
  Settings settings = Settings::parse("bins=20,kind=ggn");
  EXPECT_EQ(settings.integer("bins", 1, ""), 20);
  EXPECT_EQ(settings.text(), "bins=20,kind=ggn");
  expect_error([] { Settings::parse("bins"); }, {"'bins'", "name=value"});
}

TEST(Settings, RefuseWrongValuesAndNames) {
  const auto owned = [](const char* text) {
    Settings settings = Settings::parse(text);
    settings.set_owner("grad_hist_1d");
    return settings;
  };
  expect_error([&] { owned("bins=many").integer("bins", 1, ""); },
               {"grad_hist_1d: bins is 'many'"});
  expect_error([&] { owned("bins=-3").integer("bins", 1, ""); }, {"'-3'", "at least 0"});
  expect_error([&] { owned("low=x").number("low", 1, ""); }, {"low is 'x'", "number"});
  expect_error([&] { owned("adapt=1").flag("adapt", true, ""); }, {"true or false"});
  expect_error(
      [&] {
        owned("kind=fisher").choice("kind", {"hessian", "ggn"}, "");
      },
      {"kind is 'fisher'", "hessian, ggn"});
  expect_error(
      [&] {
        Settings settings = owned("bin=3");
        settings.integer("bins", 1, "");
        settings.check_all_known();
      },
      {"no setting 'bin'", "did you mean 'bins'"});
}

TEST(Catalogue, SuggestsTheNearestName) {
  expect_error([] { return quantity("norm_tset"); }, {"'norm_tset'", "did you mean 'norm_test'"});
  expect_error(
      [] {
        return quantity("norm_test", {{"bins", 3}});
      },
      {"norm_test", "'bins'", "has none"});
  expect_error([] { return preset("luxury"); }, {"'luxury'", "economy, business, full"});
}

}  // namespace
}  // namespace flightdeck::tests
