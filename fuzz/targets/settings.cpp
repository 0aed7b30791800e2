// SPDX-License-Identifier: MIT
// Settings of quantities, "bins=50,low=-1".
#include "flightdeck/settings.h"

#include "fuzz/quiet_torch.h"

using namespace flightdeck;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  fuzz::accepts([&] {
    Settings settings = Settings::parse(fuzz::text_of(bytes, size));
    fuzz::accepts([&] { fuzz::require(settings.integer("bins", 50, "", 1) >= 1); });
    fuzz::accepts([&] { settings.number("low", -1, ""); });
    fuzz::accepts([&] { settings.flag("adapt", true, ""); });
    fuzz::accepts([&] { settings.choice("kind", {"ggn", "hessian"}, ""); });
    fuzz::accepts([&] { settings.check_all_known(); });
    fuzz::require(Settings::parse(settings.text()).text() == settings.text());
  });
  return 0;
}
